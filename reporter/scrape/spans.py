"""The rows of an engine that its readers need: each looks back for a time of its own."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import inf
from operator import sub
from typing import NamedTuple


MAX_ROWS = 24
"""
The rows that are kept for one reader, or twice as many as it counts. Pages that come faster replace
each other.
"""

MAX_PAGES = 100
"""The pages that a reader may count: each is a row of every engine of every pod."""


class Span(NamedTuple):
    """
    One reader's need, in seconds of observed time.

    *seconds*: how far it looks back. *step*: rows closer than that replace each other. *pages*: the
    rows that are kept however far apart they are.
    """

    seconds: float
    step: float
    pages: int = 0

    @classmethod
    def of(cls, seconds: float, *, pages: int = 0) -> "Span":
        """Return the need of a reader that looks back for *seconds*, and counts so many *pages*."""
        return cls(seconds, seconds / max(MAX_ROWS, 2 * pages), pages)

    def covers(self, other: "Span") -> bool:
        """
        Return whether the rows kept for this span serve a reader of the other, *pages* aside.
        """
        return self.seconds >= other.seconds and self.step <= other.step


def join_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans that serve the readers of all, the longest first."""
    wanted = sorted(set(spans), key=lambda each: (-each.seconds, each.step))
    pages = max((each.pages for each in wanted), default=0)
    joined: list[Span] = []
    for each in wanted:
        if not any(one.covers(each) for one in joined):
            joined.append(each._replace(pages=pages))
    return tuple(joined)


def find_kept(times: Sequence[float], spans: Iterable[Span]) -> Sequence[int]:
    """
    Return the positions of the rows that are kept, of all at *times*, oldest first.

    One row beyond each span makes its window full whatever the distance of two pages.
    """
    newest, end = times[-1], len(times)
    closest = min(map(sub, times[1:], times), default=inf)
    kept: set[int] = {end - 1}
    for span in spans:
        beyond = bisect_right(times, -span.seconds, key=lambda at: at - newest)
        within = range(max(min(beyond - 1, end - span.pages), 0), end - 1)
        if closest >= span.step:  # as pages of the usual interval are
            kept.update(within)
            continue
        last = -inf
        for position in within:
            if times[position] - last >= span.step:
                kept.add(position)
                last = times[position]
    return sorted(kept)
