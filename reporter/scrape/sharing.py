"""Join the scrapes of probes that read the same pages, so that a page is read and kept once."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from msgspec.structs import replace

from reporter.model.enums import Reason
from reporter.scrape.engine_keeper import EngineKeeper
from reporter.scrape.scrapes import Scrape


def share_histories(scrapes: Mapping[Reason, Scrape]) -> dict[str, Scrape]:
    """
    Return the scrapes by the name of their history: the one that they share, or their reason.
    """
    by_history: dict[str, list[Scrape]] = {}
    for reason, scrape in scrapes.items():
        by_history.setdefault(scrape.history or reason, []).append(scrape)
    return {name: _join(of_history) for name, of_history in by_history.items()}


def _join(scrapes: Sequence[Scrape]) -> Scrape:
    first, *others = scrapes
    if not others:
        return first
    keepers = [each.keep for each in scrapes if isinstance(each.keep, EngineKeeper)]
    if len(keepers) < len(scrapes) or any(
        (each.pods, each.port) != (first.pods, first.port) for each in others
    ):
        raise ValueError(f"history {first.history} is of scrapes that cannot be joined")
    return replace(
        first,
        families=_union(each.families for each in scrapes),
        prefixes=_union(each.prefixes for each in scrapes),
        keep=reduce(EngineKeeper.merged, keepers),
        gists=tuple(dict.fromkeys(gist for each in scrapes for gist in each.gists)),
    )


def _union(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in names for name in each))
