"""
The choice between the whole metrics page of a pod and the wanted samples alone. Pure.

A page of vLLM has some 90 KiB, of which 2 are wanted. The handler of prometheus_client responds with the
samples that the parameters ``name[]`` name, and vLLM has it at ``/metrics/``. At ``/metrics`` another
one is before it, which ignores them (vllm/entrypoints/serve/instrumentator/metrics.py;
https://github.com/vllm-project/vllm/issues/53140).

That a server selects is never assumed. A page by names on which a family is missing that the last whole
page had is not used: the whole one is read at once. So it is where the numbers are of several processes,
whose collector has no names (``RestrictedRegistry`` in prometheus_client/registry.py). A family that
appears later is on a page by names too, since all that are wanted are named.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, Self, TypeAlias

from msgspec import Struct

from reporter.scrape.exposition import MalformedExposition, MetricsContent
from reporter.scrape.limits import MIN_SELECTED_BYTES, PAGES_BETWEEN_WHOLE
from reporter.scrape.samples import ScrapeResult
from reporter.scrape.scrapes import Scrape


PageContent: TypeAlias = MetricsContent | MalformedExposition

ANSWERED = frozenset({ScrapeResult.FAILED, ScrapeResult.UNUSABLE})
"""The results after which the whole page is read at once: the server is there, and may not select."""

SUFFIXES = ("", "_sum", "_count")


class WantedContent(NamedTuple):
    """The families, and the prefixes of families, that all scrapes of a page ask for."""

    families: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()

    @classmethod
    def of(cls, scrapes: Iterable[Scrape]) -> Self:
        """Join what the scrapes of a page ask for."""
        families: dict[str, None] = {}
        prefixes: dict[str, None] = {}
        for each in scrapes:
            families.update(dict.fromkeys(each.families))
            prefixes.update(dict.fromkeys(each.prefixes))
        return cls(tuple(families), tuple(prefixes))


class PageSelection(Struct):
    """
    The state of one page, from which follows how much of it is read next.

    *present*: the families of *wanted* that the last whole page had. *left*: the pages that are read by
    names before a whole one; below 0, the whole pages before names are tried again.
    """

    wanted: WantedContent = WantedContent()
    present: frozenset[str] = frozenset()
    left: int = 0

    def choose_names(self, wanted: WantedContent, *, may_select: bool) -> tuple[str, ...]:
        """Return the names of the samples to ask for; none if the whole page is to be read."""
        if wanted != self.wanted:
            self.wanted, self.present, self.left = wanted, frozenset(), 0
        if self.left <= 0 or not may_select:
            return ()
        self.left -= 1
        return sample_names(wanted.families)

    def is_complete(self, by_names: PageContent) -> bool:
        """Return whether a page by names has each family that the last whole one had."""
        return self.present <= find_present(by_names)

    def record_whole(
        self, page: PageContent, by_names: PageContent | None, *, size: int, share: float
    ) -> None:
        """
        Learn from a whole page of *size* bytes whether it may be read by names.

        *by_names*: the same page read by names just before, if that was not complete. *share*: in [0, 1), by
        which the whole pages of pods that appear together are spread.
        """
        before, self.present = self.present, find_present(page)
        if by_names is not None and not self.is_complete(by_names):
            self.refuse()
        elif self.left < 0:
            self.left += 1
        elif not self.present or self.wanted.prefixes or size < MIN_SELECTED_BYTES:
            self.left = 0
        else:
            is_first = not before
            self.left = int(share * PAGES_BETWEEN_WHOLE) if is_first else PAGES_BETWEEN_WHOLE

    def refuse(self) -> None:
        """Read whole pages for a while, as the server did not select."""
        self.left = -PAGES_BETWEEN_WHOLE


def find_present(page: PageContent) -> frozenset[str]:
    """Return the families of a page that have samples which can be read."""
    if isinstance(page, MalformedExposition):
        return frozenset()
    return frozenset(
        name
        for name, samples in page.families.items()
        if samples and not isinstance(samples, MalformedExposition)
    )


@lru_cache(maxsize=64)
def sample_names(families: tuple[str, ...]) -> tuple[str, ...]:
    """
    Return the names that samples of these families may have.

    Only its ``# TYPE`` line tells that a family is a histogram, and it may appear later.
    """
    return tuple(f"{family}{suffix}" for family in families for suffix in SUFFIXES)
