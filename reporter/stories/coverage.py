"""Find the reasons, and the codes of their causes, that no story announces."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from reporter.catalogue.checks import DEFAULT_REMEDY
from reporter.catalogue.entries import Catalogue, CatalogueEntry, ProbeSpec
from reporter.model.enums import Reason
from reporter.stories.runner import StoryResult


class StoryCoverage(Struct, frozen=True):
    """
    The gaps of stories.

    *reasons*: those that no story announces. *codes*: by reason, for the others.
    """

    reasons: tuple[Reason, ...]
    codes: Mapping[Reason, Sequence[str]]
    total: int


def find_coverage(
    results: Iterable[StoryResult], catalogue: Catalogue, specs: Mapping[str, ProbeSpec]
) -> StoryCoverage:
    """
    Return what no story announces, of the whole catalogue: also of reasons that are switched off.
    """
    announced: defaultdict[Reason, set[str]] = defaultdict(set)
    for result in results:
        for reason, codes in result.announced.items():
            announced[reason].update(part for code in codes for part in (code, *code.split(".")))
    warnings = [each for each in catalogue.entries.values() if not each.is_ready_reason]
    missing = {
        entry.reason: sorted(_codes(entry, specs[entry.probe]) - announced[entry.reason])
        for entry in warnings
        if entry.reason in announced
    }
    return StoryCoverage(
        tuple(entry.reason for entry in warnings if entry.reason not in announced),
        {reason: codes for reason, codes in missing.items() if codes},
        len(warnings),
    )


def _codes(entry: CatalogueEntry, spec: ProbeSpec) -> frozenset[str]:
    """
    Return the codes that a reason has; those with a remedy where the catalogue itself makes them.
    """
    if not spec.any_cause_code:
        return spec.cause_codes
    return frozenset(entry.remedies) - {DEFAULT_REMEDY}
