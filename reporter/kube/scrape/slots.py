"""
Places for so many at once, who waits for one, and who is let in next. Pure.
"""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar


Waiter = TypeVar("Waiter")


@dataclass(slots=True)
class _SlotGroup(Generic[Waiter]):
    """
    How many more of it may come in, and who waits, by rank and then by who asked first.
    """

    free: int
    waiting: list[tuple[tuple[float, ...], int, Waiter]] = field(default_factory=list)


class SlotPool(Generic[Waiter]):
    """
    *places* for all, and the *most* that each group has of them; the rest are kept for the others.

    Groups take turns, so that none waits for ever while another comes again and again.
    """

    def __init__(self, places: int, most: Sequence[int]) -> None:
        self._free = places
        self._groups = [_SlotGroup[Waiter](each) for each in most]
        self._order = deque(range(len(most)))
        self._enqueued = 0

    def enqueue(self, guest: Waiter, group: int, rank: tuple[float, ...] = ()) -> None:
        """
        Within a group, the lowest *rank* is let in first.
        """
        self._enqueued += 1
        heapq.heappush(self._groups[group].waiting, (rank, self._enqueued, guest))

    def acquire(self) -> tuple[Waiter, int] | None:
        """
        Who has a place now, and its group, to be told when it leaves; None if none may come in.
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
                _, _, guest = heapq.heappop(group.waiting)
                return guest, number
        return None

    def release(self, group: int) -> None:
        self._free += 1
        self._groups[group].free += 1
