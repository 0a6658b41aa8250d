"""Schedule of the metrics pages: each once an interval, at a moment of its own. Pure."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from enum import Enum
from math import floor
from typing import TypeAlias
from zlib import crc32

from msgspec import Struct

from reporter.scrape.limits import MAX_SKIPPED_INTERVALS, MOMENTS_APART, SKIPPED_INTERVALS
from reporter.scrape.scrapes import MetricsPage


ScrapePlace: TypeAlias = tuple[str, int]
"""The pods of a namespace at one port, which are read by the same path."""


def offset(uid: str) -> float:
    """
    Return the share of an interval, in [0, 1), after which a pod is read in every interval.

    A hash of the uid spreads the pods evenly, as Prometheus spreads its targets.
    """
    return crc32(uid.encode()) / 2**32


def next_scrape_time(uid: str, *, after: float, interval: float, skip: int = 0) -> float:
    """
    Return this pod's first moment later than *after*, or *skip* intervals later.

    Pods share moments that are MOMENTS_APART, each pod the same one in every interval.
    """
    moments = max(round(interval / MOMENTS_APART.total_seconds()), 1)
    begin = floor(offset(uid) * moments) * interval / moments
    number = floor((after - begin) / interval) + 1
    found = number * interval + begin
    return (found if found > after else found + interval) + skip * interval


class LastOutcome(Enum):
    """The outcome of the last scrape of a page; NEW before the first one."""

    SUCCEEDED = "read"
    NEW = "new"
    FAILED = "failed"


class ScrapeSlot(Struct, eq=False):
    """
    One page in the schedule. Times are in seconds of the event loop.

    *due* is None while the page is being read or waits for a free slot. *excess*: how often the page
    cost too much, less the times that it did not. *tried_at*: when it was read, or tried, last.
    """

    page: MetricsPage
    uid: str
    first_seen: float
    due: float | None
    failures: int = 0
    last_outcome: LastOutcome = LastOutcome.NEW
    excess: int = 0
    tried_at: float = float("-inf")

    @property
    def priority(self) -> tuple[float, float]:
        """
        The rank among the pages that wait: fewer failures first; of the new ones the youngest first.

        Thousands of pods that appeared together may all hang, and a younger one must not wait for
        them.
        """
        new = self.last_outcome is LastOutcome.NEW
        return min(self.failures, len(SKIPPED_INTERVALS) - 1), -self.first_seen if new else 0.0


class ScrapeSchedule:
    """The schedule of all pages. Times are in seconds of the event loop."""

    def __init__(self, interval: timedelta) -> None:
        self._interval = interval.total_seconds()
        self._slots: dict[MetricsPage, ScrapeSlot] = {}
        self._queue: list[tuple[float, MetricsPage]] = []
        self._by_place: Counter[ScrapePlace] = Counter()

    def __len__(self) -> int:
        return len(self._slots)

    def count_pages(self) -> Mapping[LastOutcome, int]:
        """Count the pages by the outcome of the last attempt."""
        found = Counter(slot.last_outcome for slot in self._slots.values())
        return {outcome: found[outcome] for outcome in LastOutcome}

    @property
    def pages_by_place(self) -> Mapping[ScrapePlace, int]:
        """The number of pages by namespace and port."""
        return self._by_place

    def pages_of(
        self, places: Collection[ScrapePlace]
    ) -> Mapping[ScrapePlace, Sequence[MetricsPage]]:
        """Return the pages of these namespaces and ports; a place without pages is left out."""
        wanted = frozenset(places)
        found: defaultdict[ScrapePlace, list[MetricsPage]] = defaultdict(list)
        for page in self._slots:
            if (page.namespace, page.port) in wanted:
                found[page.namespace, page.port].append(page)
        return found

    def set_targets(self, uids: Mapping[MetricsPage, str], *, now: float) -> None:
        """Schedule exactly these pages; *uids* are those of their pods."""
        for page in self._slots.keys() - uids.keys():
            del self._slots[page]
        for page, uid in uids.items():
            known = self._slots.get(page)
            if known is None or known.uid != uid:
                due = next_scrape_time(uid, after=now, interval=self._interval)
                self._slots[page] = ScrapeSlot(page, uid, now, due)
                heapq.heappush(self._queue, (due, page))
        self._by_place = Counter((page.namespace, page.port) for page in self._slots)

    def pop_due(self, now: float) -> list[ScrapeSlot]:
        """Return the pages that are due; each must be given to `reschedule` afterwards."""
        found = []
        while self._queue and self._queue[0][0] <= now:
            due, page = heapq.heappop(self._queue)
            slot = self._slots.get(page)
            if slot is not None and slot.due == due:
                slot.due = None
                found.append(slot)
        return found

    def reschedule(
        self, slot: ScrapeSlot, *, failed: bool, now: float, too_costly: bool = False
    ) -> None:
        """
        Schedule the next attempt of a page that was popped; nothing if it is not to be read any more.

        A page that fails or is *too_costly* again and again skips more intervals each time, up to
        a limit.
        """
        if self._slots.get(slot.page) is not slot:
            return
        slot.failures = slot.failures + 1 if failed else 0
        slot.last_outcome = LastOutcome.FAILED if failed else LastOutcome.SUCCEEDED
        # A page that is too large only now and then is read less often too.
        slot.excess = slot.excess + 1 if too_costly else max(slot.excess - 1, 0)
        skip = max(
            SKIPPED_INTERVALS[min(slot.failures, len(SKIPPED_INTERVALS) - 1)],
            min(2 ** min(slot.excess, 10) - 1, MAX_SKIPPED_INTERVALS),
        )
        slot.due = next_scrape_time(slot.uid, after=now, interval=self._interval, skip=skip)
        heapq.heappush(self._queue, (slot.due, slot.page))

    def next_due(self) -> float | None:
        """
        Return when the next page is due, perhaps one that was removed; None if no page is scheduled.
        """
        return self._queue[0][0] if self._queue else None
