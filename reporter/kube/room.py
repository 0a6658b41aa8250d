"""
Places for so many at once, who waits for one, and who is let in next. Pure.
"""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar


Guest = TypeVar("Guest")


@dataclass(slots=True)
class _Group(Generic[Guest]):
    """
    How many more of it may come in, and who waits, by rank and then by who asked first.
    """

    left: int
    waiting: list[tuple[tuple[float, ...], int, Guest]] = field(default_factory=list)


class Room(Generic[Guest]):
    """
    *places* for all, and the *most* that each group has of them; the rest are kept for the others.

    Groups take turns, so that none waits for ever while another comes again and again.
    """

    def __init__(self, places: int, most: Sequence[int]) -> None:
        self._left = places
        self._groups = [_Group[Guest](each) for each in most]
        self._order = deque(range(len(most)))
        self._asked = 0

    def ask(self, guest: Guest, group: int, rank: tuple[float, ...] = ()) -> None:
        """
        Within a group, the lowest *rank* is let in first.
        """
        self._asked += 1
        heapq.heappush(self._groups[group].waiting, (rank, self._asked, guest))

    def enter(self) -> tuple[Guest, int] | None:
        """
        Who has a place now, and its group, to be told when it leaves; None if none may come in.
        """
        if not self._left:
            return None
        for number in self._order:
            group = self._groups[number]
            if group.left and group.waiting:
                self._left -= 1
                group.left -= 1
                self._order.remove(number)
                self._order.append(number)
                _, _, guest = heapq.heappop(group.waiting)
                return guest, number
        return None

    def leave(self, group: int) -> None:
        self._left += 1
        self._groups[group].left += 1
