"""
The order in which pages that are due are read, by their path, in slots that namespaces share. Pure.

Pages at the pods' own addresses wait for a slot alone. Each one by way of the API server is work for
everybody's server: so many a minute are read, the least recently read first. Times are in seconds of
the event loop.
"""

import heapq
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct, field

from reporter.scrape.limits import MAX_CONCURRENT_PROXY, direct_concurrency
from reporter.scrape.path import ScrapePath
from reporter.scrape.schedule import LastOutcome, ScrapePlace, ScrapeSlot


Waiter = TypeVar("Waiter")


class _SlotGroup(Struct, Generic[Waiter]):
    """The free slots of a group, and its waiters by rank and then by arrival."""

    free: int
    waiting: list[tuple[tuple[float, ...], int, Waiter]] = field(default_factory=list)


class SlotPool(Generic[Waiter]):
    """
    The slots for pages that are open at once.

    *total*: all slots, of which each group may hold at most its share of *max_by_group*. Groups
    take turns, so that none starves while another always has waiters.
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

    def has_waiting(self) -> bool:
        """Return whether anything waits for a slot."""
        return any(group.waiting for group in self._groups)

    def drain(self, group: int) -> list[Waiter]:
        """Return the waiters of a group, and let none of them wait any longer."""
        waiting = sorted(self._groups[group].waiting, key=lambda each: each[:2])
        self._groups[group].waiting.clear()
        return [waiter for _, _, waiter in waiting]

    def release(self, group: int) -> None:
        """Give back a slot that `acquire` took for a waiter of this group."""
        self._free += 1
        self._groups[group].free += 1


class Turn(NamedTuple):
    """A page to be read now, by which path. *release* must be called afterwards."""

    slot: ScrapeSlot
    path: ScrapePath
    release: Callable[[], None]


class ScrapeTurns:
    """
    The pages that wait for their turn on one of the two paths.

    *files*: how many may be open. *proxied_per_minute*: pages at most through the API server.
    """

    def __init__(self, files: int, proxied_per_minute: float) -> None:
        self._direct = SlotPool[ScrapeSlot](*direct_concurrency(files))
        self._proxied = SlotPool[ScrapeSlot](MAX_CONCURRENT_PROXY, (MAX_CONCURRENT_PROXY,))
        self._apart, self._next_at = 60.0 / proxied_per_minute, 0.0

    def enqueue(self, slot: ScrapeSlot, path: ScrapePath) -> None:
        """
        Let a page wait for its path.

        A pod that answered last time does not wait for new and failing ones. Of those through the
        API server the one tried longest ago comes first.
        """
        if path is ScrapePath.PROXY:
            self._proxied.enqueue(slot, 0, (slot.tried_at,))
        else:
            group = int(slot.last_outcome is not LastOutcome.SUCCEEDED)
            self._direct.enqueue(slot, group, slot.priority)

    def acquire(self, now: float) -> Turn | None:
        """Return the next page that can be read now; None if there is none."""
        direct = self._direct.acquire()
        if direct is not None:
            slot, group = direct
            return Turn(slot, ScrapePath.DIRECT, partial(self._direct.release, group))
        proxied = self._proxied.acquire() if now >= self._next_at else None
        if proxied is None:
            return None
        self._next_at = now + self._apart
        return Turn(proxied[0], ScrapePath.PROXY, partial(self._proxied.release, 0))

    def has_waiting(self) -> bool:
        """Return whether a page waits for its turn."""
        return self._direct.has_waiting() or self._proxied.has_waiting()

    def seconds_until_turn(self, now: float) -> float | None:
        """Return in how many seconds the budget allows another page; None if none waits for it."""
        return max(self._next_at - now, 0.0) if self._proxied.can_acquire(0) else None

    def drain_proxied(self) -> list[ScrapeSlot]:
        """Return the pages that wait for the API server; none waits then."""
        return self._proxied.drain(0)

    def page_ages(
        self,
        places: Mapping[ScrapePlace, int],
        path_for: Callable[[str, int], ScrapePath],
        interval: timedelta,
    ) -> Mapping[ScrapePath, timedelta]:
        """
        Return how old a page may be before it is read again, by the paths that are used.

        *places*: the number of pages by namespace and port.
        """
        pages: Counter[ScrapePath] = Counter()
        for place, number in places.items():
            pages[path_for(*place)] += number
        proxied = timedelta(seconds=pages[ScrapePath.PROXY] * self._apart)
        ages = {ScrapePath.DIRECT: interval, ScrapePath.PROXY: max(interval, proxied)}
        return {path: ages[path] for path in pages}
