"""
How long the event loop is held at a time: all else that is due has to wait as long.

Seen from where the loop waits, so that nothing has to wake up for it and no hold is missed, be it a
pass, a page or the garbage collector.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

from reporter.runtime.clock import monotonic_seconds


class LagSelector(selectors.DefaultSelector):
    """
    *held* is told the seconds from the end of one wait until the next, zero or not.
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
    As asyncio.run does, on a loop whose holds are seen.
    """
    turns = LagSelector()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(turns)) as runner:
        runner.run(main(turns))
