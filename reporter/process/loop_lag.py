"""
Measures for how long the event loop is busy at a time: everything else that is due waits as long.

The selector sees every such span, be it a pass, a page or the garbage collector, without a timer
that would have to wake up for it.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

from reporter.process.clock import monotonic_seconds


class LagSelector(selectors.DefaultSelector):
    """
    Measures the time from the end of one wait to the start of the next, by a clock that never jumps.
    """

    def __init__(self, seconds: Callable[[], float] = monotonic_seconds) -> None:
        super().__init__()
        self._on_lag: Callable[[float], None] = lambda _: None
        self._seconds, self._since = seconds, seconds()

    def subscribe(self, on_lag: Callable[[float], None]) -> None:
        """Call *on_lag* with the seconds of each such time, also zero."""
        self._on_lag = on_lag

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """
        Report how long the loop was busy since the last wait, then wait for events as its base does.
        """
        self._on_lag(self._seconds() - self._since)
        try:
            return super().select(timeout)
        finally:
            self._since = self._seconds()


def run_measured(
    main: Callable[[LagSelector], Coroutine[Any, Any, None]],
    seconds: Callable[[], float] = monotonic_seconds,
) -> None:
    """Run *main* as asyncio.run does, on an event loop with a LagSelector."""
    selector = LagSelector(seconds)
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        runner.run(main(selector))
