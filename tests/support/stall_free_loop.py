"""
An event loop whose clock does not count the time in which its process gets no turn.

Client and server of a test share one loop. While the machine is busy elsewhere neither gets on, but
a usual clock goes on, so that deadlines pass before what they wait for had a chance to happen.
"""

import asyncio
import selectors
import time


MAX_TURN = 0.001
"""
Seconds that a turn of the loop counts at most, however long its callbacks take. More than 0, so that
a loop that is never idle has deadlines as well.
"""


class _CountingSelector(selectors.DefaultSelector):
    """
    A selector that counts the time for which its loop waits, and at most MAX_TURN between two waits.
    """

    def __init__(self) -> None:
        super().__init__()
        self._counted = self._returned_at = _seconds()

    @property
    def now(self) -> float:
        return self._counted + min(_seconds() - self._returned_at, MAX_TURN)

    def add(self, seconds: float) -> None:
        self._counted += seconds

    def select(self, timeout: float | None = None):
        self._counted, began = self.now, _seconds()
        try:
            return super().select(timeout)
        finally:
            self._returned_at = _seconds()
            waited = self._returned_at - began
            self._counted += waited if timeout is None else min(waited, max(timeout, 0.0))


class StallFreeEventLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._counting = _CountingSelector()
        super().__init__(self._counting)

    def time(self) -> float:
        return self._counting.now

    def add(self, seconds: float) -> None:
        self._counting.add(seconds)


def take_seconds(seconds: float) -> None:
    """
    Count so many seconds for this turn of the running loop, as if its callback had taken them.
    """
    loop = asyncio.get_running_loop()
    assert isinstance(loop, StallFreeEventLoop)
    loop.add(seconds)


def _seconds() -> float:
    return time.monotonic()  # noqa: TID251
