"""
When each pod is read: once an interval, each at a moment of its own. Pure.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from math import floor
from zlib import crc32


SKIPPED_INTERVALS = (0, 0, 1, 3)
"""
Intervals that are left out, by failures in a row.
"""

PodName = tuple[str, str]


def offset(uid: str) -> float:
    """
    Where in an interval a pod is read, in [0, 1): spread evenly, and the same in every round.
    """
    return crc32(uid.encode()) / 2**32


def next_scrape_time(uid: str, *, after: float, interval: float, skip: int = 0) -> float:
    """
    The next moment of this pod later than *after*, or *skip* intervals later still.
    """
    share = offset(uid)
    turn = floor(after / interval - share) + 1
    found = (turn + share) * interval
    return (found if found > after else found + interval) + skip * interval


class LastOutcome(Enum):
    """
    What is to be expected of a pod: it was READ at its last turn, or had none, or FAILED.
    """

    SUCCEEDED = "read"
    NEW = "new"
    FAILED = "failed"


@dataclass(slots=True, eq=False)
class ScrapeSlot:
    """
    *seen* and *due* in seconds of the event loop; not due while it is being read, or waits for that.
    """

    name: PodName
    uid: str
    first_seen: float
    due: float | None
    failures: int = 0
    last_outcome: LastOutcome = LastOutcome.NEW

    @property
    def priority(self) -> tuple[float, float]:
        """
        Who has failed less goes first, and of the new ones who was seen last.

        Of thousands that came together all may hang, and one that has come since must not wait.
        """
        new = self.last_outcome is LastOutcome.NEW
        return min(self.failures, len(SKIPPED_INTERVALS) - 1), -self.first_seen if new else 0.0


class ScrapeSchedule:
    """
    The turns of all targets by namespace and name. All times in seconds of the event loop.
    """

    def __init__(self, interval: timedelta) -> None:
        self._interval = interval.total_seconds()
        self._slots: dict[PodName, ScrapeSlot] = {}
        self._queue: list[tuple[float, PodName]] = []

    def __len__(self) -> int:
        return len(self._slots)

    def set_targets(self, uids: Mapping[PodName, str], *, now: float) -> None:
        """
        Read these from now on and no others.
        """
        for name in self._slots.keys() - uids.keys():
            del self._slots[name]
        for name, uid in uids.items():
            known = self._slots.get(name)
            if known is None or known.uid != uid:
                due = next_scrape_time(uid, after=now, interval=self._interval)
                self._slots[name] = ScrapeSlot(name, uid, now, due)
                heapq.heappush(self._queue, (due, name))

    def pop_due(self, now: float) -> list[ScrapeSlot]:
        """
        Those that have come; each must be given back as *done*.
        """
        found = []
        while self._queue and self._queue[0][0] <= now:
            due, name = heapq.heappop(self._queue)
            turn = self._slots.get(name)
            if turn is not None and turn.due == due:
                turn.due = None
                found.append(turn)
        return found

    def reschedule(self, turn: ScrapeSlot, *, failed: bool, now: float) -> None:
        if self._slots.get(turn.name) is not turn:
            return
        turn.failures = turn.failures + 1 if failed else 0
        turn.last_outcome = LastOutcome.FAILED if failed else LastOutcome.SUCCEEDED
        skip = SKIPPED_INTERVALS[min(turn.failures, len(SKIPPED_INTERVALS) - 1)]
        turn.due = next_scrape_time(turn.uid, after=now, interval=self._interval, skip=skip)
        heapq.heappush(self._queue, (turn.due, turn.name))

    def next_due(self) -> float | None:
        return self._queue[0][0] if self._queue else None
