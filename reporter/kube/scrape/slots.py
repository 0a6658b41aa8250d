"""A limited number of slots, shared fairly by groups of waiters. Pure."""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar


Waiter = TypeVar("Waiter")


@dataclass(slots=True)
class _SlotGroup(Generic[Waiter]):
    """The free slots of a group, and its waiters by rank and then by arrival."""

    free: int
    waiting: list[tuple[tuple[float, ...], int, Waiter]] = field(default_factory=list)


class SlotPool(Generic[Waiter]):
    """
    *total* slots, of which each group may hold at most its share of *max_by_group*.

    Groups take turns, so that none starves while another always has waiters.
    """

    def __init__(self, total: int, max_by_group: Sequence[int]) -> None:
        self._free = total
        self._groups = [_SlotGroup[Waiter](each) for each in max_by_group]
        self._order = deque(range(len(max_by_group)))
        self._enqueued = 0

    def enqueue(self, waiter: Waiter, group: int, rank: tuple[float, ...] = ()) -> None:
        """Add a waiter; within a group the lowest *rank* is served first."""
        self._enqueued += 1
        heapq.heappush(self._groups[group].waiting, (rank, self._enqueued, waiter))

    def acquire(self) -> tuple[Waiter, int] | None:
        """
        Take a slot for the next waiter and return that with its group; None if none can be served.

        The group must be given to `release` afterwards.
        """
        if not self._free:
            return None
        for number in self._order:
            group = self._groups[number]
            if group.free and group.waiting:
                self._free -= 1
                group.free -= 1
                self._order.remove(number)
                self._order.append(number)
                _, _, waiter = heapq.heappop(group.waiting)
                return waiter, number
        return None

    def can_acquire(self, group: int) -> bool:
        """Return whether a waiter of the group would get a slot now."""
        found = self._groups[group]
        return bool(self._free and found.free and found.waiting)

    def drain(self, group: int) -> list[Waiter]:
        """Return the waiters of a group, and let none of them wait any longer."""
        waiting = sorted(self._groups[group].waiting, key=lambda each: each[:2])
        self._groups[group].waiting.clear()
        return [waiter for _, _, waiter in waiting]

    def release(self, group: int) -> None:
        self._free += 1
        self._groups[group].free += 1
