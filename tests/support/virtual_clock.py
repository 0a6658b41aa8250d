"""Virtual time, which only a test moves, and event loops that run by it."""

import asyncio
import heapq
import itertools
import selectors
from collections.abc import Callable
from datetime import datetime, timedelta

from tests.support.builders import NOON


START_SECONDS = 1000.0
"""The seconds of the clock at noon. Small, so that sums of floats stay exact to the nanosecond."""


class VirtualClock:
    """
    The time, and what happens at which second. Two calls at the same second keep their order.
    """

    def __init__(self) -> None:
        self.now = START_SECONDS
        self._order = itertools.count()
        self._planned: list[tuple[float, int, Callable[[], None]]] = []

    @property
    def wall_time(self) -> datetime:
        return NOON + timedelta(seconds=self.now - START_SECONDS)

    def call_at(self, when: float, callback: Callable[[], None]) -> None:
        heapq.heappush(self._planned, (max(when, self.now), next(self._order), callback))

    def call_after(self, seconds: float, callback: Callable[[], None]) -> None:
        self.call_at(self.now + seconds, callback)

    @property
    def next_due(self) -> float:
        return self._planned[0][0] if self._planned else float("inf")

    def run_due(self) -> None:
        """Run everything that is planned up to now."""
        while self.next_due <= self.now:
            heapq.heappop(self._planned)[2]()


class _IdleSelector(selectors.DefaultSelector):
    """A selector without sockets. It reports when and for how long its loop has nothing to do."""

    on_idle: Callable[[float | None], None]

    def select(self, timeout: float | None = None):
        if timeout is None or timeout > 0:
            self.on_idle(timeout)
        return []


class VirtualEventLoop:
    """
    The event loop of one process.

    *next_timer*: when its next timer is due.
    """

    def __init__(self, clock: VirtualClock) -> None:
        idle = _IdleSelector()
        idle.on_idle = self._on_idle
        self._clock = clock
        self.next_timer = float("inf")
        self.loop = asyncio.SelectorEventLoop(idle)
        self.loop.time = lambda: clock.now  # type: ignore[method-assign]

    def _on_idle(self, seconds: float | None) -> None:
        self.next_timer = float("inf") if seconds is None else self._clock.now + seconds
        self.loop.stop()

    def run_until_idle(self) -> None:
        """Run the loop until nothing is left to do at this moment."""
        self.loop.run_forever()

    def close(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.run_until_idle()
        self.loop.close()
