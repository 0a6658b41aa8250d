"""
Time that only the simulation moves: what happens when, and event loops that live by it.
"""

import asyncio
import heapq
import itertools
import selectors
from collections.abc import Callable
from datetime import datetime, timedelta

from tests.support.builders import NOON


START_SECONDS = 1000.0
"""
Seconds of the agenda at noon; small, so that sums of floats stay exact to the nanosecond.
"""


class VirtualClock:
    """
    What happens at which second; of two at the same one, that which was planned first.
    """

    def __init__(self) -> None:
        self.now = START_SECONDS
        self._order = itertools.count()
        self._planned: list[tuple[float, int, Callable[[], None]]] = []

    @property
    def wall_time(self) -> datetime:
        return NOON + timedelta(seconds=self.now - START_SECONDS)

    def call_at(self, when: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._planned, (max(when, self.now), next(self._order), act))

    def call_after(self, seconds: float, act: Callable[[], None]) -> None:
        self.call_at(self.now + seconds, act)

    @property
    def next_due(self) -> float:
        return self._planned[0][0] if self._planned else float("inf")

    def run_due(self) -> None:
        """
        All that is planned for now.
        """
        while self.next_due <= self.now:
            heapq.heappop(self._planned)[2]()


class _IdleSelector(selectors.DefaultSelector):
    """
    Tells when a loop has nothing more to do at this moment, and for how long. It has no sockets.
    """

    on_idle: Callable[[float | None], None]

    def select(self, timeout: float | None = None):
        if timeout is None or timeout > 0:
            self.on_idle(timeout)
        return []


class VirtualEventLoop:
    """
    The event loop of one process: *wakes* is when its next timer is due.
    """

    def __init__(self, agenda: VirtualClock) -> None:
        idle = _IdleSelector()
        idle.on_idle = self._on_idle
        self._agenda = agenda
        self.wakes = float("inf")
        self.loop = asyncio.SelectorEventLoop(idle)
        self.loop.time = lambda: agenda.now  # type: ignore[method-assign]

    def _on_idle(self, seconds: float | None) -> None:
        self.wakes = float("inf") if seconds is None else self._agenda.now + seconds
        self.loop.stop()

    def run_until_idle(self) -> None:
        """
        Run until nothing is left to do at this moment.
        """
        self.loop.run_forever()

    def close(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.run_until_idle()
        self.loop.close()
