"""The metrics pages that the enabled reasons read."""

from collections.abc import Mapping
from typing import Any

from reporter.catalogue.entries import Catalogue, ProbeSpec
from reporter.model.enums import Reason
from reporter.scrape.scrapes import Scrape, share_histories


def scraping_reasons(catalogue: Catalogue, specs: Mapping[str, ProbeSpec]) -> tuple[Reason, ...]:
    """
    Return the evaluated reasons whose probes read metrics pages; without any nothing is scraped.
    """
    evaluated = (entry for entry in catalogue.entries.values() if entry.is_evaluated)
    return tuple(e.reason for e in evaluated if specs[e.probe].scrape is not None)


def find_scrapes(
    catalogue: Catalogue, specs: Mapping[str, ProbeSpec], flags: Mapping[str, str]
) -> dict[str, Scrape]:
    """
    Build the scrapes of the evaluated reasons that have one and are not switched off by a flag.

    They are by the name of their history: a reason, or what several reasons share.
    *flags*: values by name.
    """
    return share_histories(build_scrapes(catalogue, specs, flags))


def renew_scrapes(
    before: Mapping[str, Scrape],
    catalogues: tuple[Catalogue, Catalogue],
    specs: Mapping[str, ProbeSpec],
    flags: Mapping[str, str],
) -> dict[str, Scrape]:
    """
    Return the scrapes of the second catalogue: the very same ones where nothing about them changed.

    *before*: those of the first catalogue.
    """
    old, new = (_parameters_by_history(each, specs, flags) for each in catalogues)
    return {
        name: before[name] if name in before and old.get(name) == new.get(name) else scrape
        for name, scrape in find_scrapes(catalogues[1], specs, flags).items()
    }


def _parameters_by_history(
    catalogue: Catalogue, specs: Mapping[str, ProbeSpec], flags: Mapping[str, str]
) -> Mapping[str, Mapping[Reason, Any]]:
    found: dict[str, dict[Reason, Any]] = {}
    for reason, scrape in build_scrapes(catalogue, specs, flags).items():
        entry = catalogue[reason]
        found.setdefault(scrape.history or reason, {})[reason] = (entry.probe, entry.parameters)
    return found


def build_scrapes(
    catalogue: Catalogue, specs: Mapping[str, ProbeSpec], flags: Mapping[str, str]
) -> dict[Reason, Scrape]:
    """
    Build the scrape of each evaluated reason that reads metrics pages with these *flags*: values by name.
    """
    entries = (catalogue[reason] for reason in scraping_reasons(catalogue, specs))
    return {
        entry.reason: scrape
        for entry in entries
        if not (spec := specs[entry.probe]).why_not_read(entry.parameters, flags)
        and spec.scrape is not None
        and (scrape := spec.scrape(entry.parameters, flags)) is not None
    }
