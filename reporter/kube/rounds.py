"""
When each pod is read: once an interval, each at a moment of its own. Pure.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import floor
from zlib import crc32


SKIPPED = (0, 0, 1, 3)
"""
Intervals that are left out, by failures in a row.
"""

PodName = tuple[str, str]


def offset(uid: str) -> float:
    """
    Where in an interval a pod is read, in [0, 1): spread evenly, and the same in every round.
    """
    return crc32(uid.encode()) / 2**32


def moment(uid: str, *, after: float, interval: float, skip: int = 0) -> float:
    """
    The next moment of this pod later than *after*, or *skip* intervals later still.
    """
    share = offset(uid)
    turn = floor(after / interval - share) + 1
    found = (turn + share) * interval
    return (found if found > after else found + interval) + skip * interval


@dataclass(slots=True)
class Turn:
    """
    *due* in seconds of the event loop; None while it is being read. *read*: whether it was at last.
    """

    uid: str
    due: float | None
    failures: int = 0
    read: bool = False


class Rounds:
    """
    The turns of all targets by namespace and name. All times in seconds of the event loop.
    """

    def __init__(self, interval: timedelta) -> None:
        self._interval = interval.total_seconds()
        self._turns: dict[PodName, Turn] = {}
        self._queue: list[tuple[float, PodName]] = []

    def __len__(self) -> int:
        return len(self._turns)

    def follow(self, uids: Mapping[PodName, str], *, now: float) -> None:
        """
        Read these from now on and no others.
        """
        for name in self._turns.keys() - uids.keys():
            del self._turns[name]
        for name, uid in uids.items():
            known = self._turns.get(name)
            if known is None or known.uid != uid:
                due = moment(uid, after=now, interval=self._interval)
                self._turns[name] = Turn(uid, due)
                heapq.heappush(self._queue, (due, name))

    def due(self, now: float) -> list[tuple[PodName, str]]:
        """
        Names and uids of those whose turn has come; each must be given back as *done*.
        """
        found = []
        while self._queue and self._queue[0][0] <= now:
            due, name = heapq.heappop(self._queue)
            turn = self._turns.get(name)
            if turn is not None and turn.due == due:
                turn.due = None
                found.append((name, turn.uid))
        return found

    def doubts(self, name: PodName) -> int:
        """
        0 of a pod that was read at its last turn, 1 before its first, 2 of one that was not.
        """
        turn = self._turns.get(name)
        if turn is None:
            return 1
        return 0 if turn.read else 1 + min(turn.failures, 1)

    def done(self, name: PodName, uid: str, *, failed: bool, now: float) -> None:
        turn = self._turns.get(name)
        if turn is None or turn.uid != uid or turn.due is not None:
            return
        turn.failures, turn.read = turn.failures + 1 if failed else 0, not failed
        skip = SKIPPED[min(turn.failures, len(SKIPPED) - 1)]
        turn.due = moment(turn.uid, after=now, interval=self._interval, skip=skip)
        heapq.heappush(self._queue, (turn.due, name))

    def next(self) -> float | None:
        return self._queue[0][0] if self._queue else None
