"""
Measures for how long the event loop is busy at a time: everything else that is due waits as long.

The selector sees every such span, be it a pass, a page or the garbage collector, without a timer
that would have to wake up for it.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

from reporter.runtime.process.clock import monotonic_seconds


class LagSelector(selectors.DefaultSelector):
    """
    Calls *on_lag* with the seconds from the end of one wait to the start of the next, also zero.
    """

    def __init__(self) -> None:
        super().__init__()
        self.on_lag: Callable[[float], None] = lambda _: None
        self._since = monotonic_seconds()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.on_lag(monotonic_seconds() - self._since)
        try:
            return super().select(timeout)
        finally:
            self._since = monotonic_seconds()


def run_measured(main: Callable[[LagSelector], Coroutine[Any, Any, None]]) -> None:
    """
    Run *main* as asyncio.run does, on an event loop with a LagSelector.
    """
    selector = LagSelector()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        runner.run(main(selector))
