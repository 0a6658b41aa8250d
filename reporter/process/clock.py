"""The only module that reads the clocks."""

import time
from datetime import UTC, datetime

from reporter.process.server_time import OffsetBounds


START_SECONDS = 10.0
"""
Seconds after the first answer in which the clock may jump: nothing has been announced by then, and
the machine's own clock may be hours off.
"""

START_ANSWERS = 10
"""
Answers until which the clock may jump, however long they take: fewer may not outvote a wrong one.
"""

MAX_RATE = 0.1
"""
The share of the time that passes by which the clock is corrected later. So it never runs backwards,
and no hold or settle is shortened or prolonged by more than this share.
"""

MAX_STEP = 1.0
"""Seconds of the largest correction at once, after a time without answers."""


class Clock:
    """
    The API server's time, as far as it is known, continued by a local clock that never jumps.

    A local wall clock that is wrong or jumps has no effect once the servers have answered.
    """

    def __init__(self) -> None:
        now = self.seconds()
        self.offset = time.time() - now
        self._spread = 0.0
        self._first_answer: float | None = None
        self._answers = 0
        self._corrected = now

    def now(self) -> datetime:
        """
        Return the time in UTC by the API servers' clock; by the machine's until they have answered.
        """
        return datetime.fromtimestamp(self.seconds() + self.offset, UTC)

    def seconds_until(self, moment: datetime) -> float:
        """Return the seconds until a moment; 0 for one that has passed."""
        return max((moment - self.now()).total_seconds(), 0.0)

    def seconds(self) -> float:
        """
        Return the seconds of a clock that never jumps, and that goes on while the machine sleeps.
        """
        boot_time = getattr(time, "CLOCK_BOOTTIME", None)
        return time.monotonic() if boot_time is None else time.clock_gettime(boot_time)

    def correct(self, bounds: OffsetBounds) -> None:
        """
        Move the offset towards the bounds that the API servers' answers give; at once near the start.
        """
        now = self.seconds()
        if self._first_answer is None:
            self._first_answer = now
        self._answers += 1
        starting = now - self._first_answer <= START_SECONDS or self._answers <= START_ANSWERS
        self.offset = corrected_offset(
            self.offset,
            bounds,
            elapsed=now - self._corrected,
            may_jump=starting,
        )
        self._corrected, self._spread = now, bounds.spread

    @property
    def skew(self) -> float:
        """The seconds by which the API server's clock is ahead of the machine's."""
        return self.seconds() + self.offset - time.time()

    @property
    def spread(self) -> float:
        """The seconds by which the answer that differs most differs from the others."""
        return self._spread


def corrected_offset(
    offset: float, bounds: OffsetBounds, *, elapsed: float, may_jump: bool
) -> float:
    """Return the offset moved towards *bounds*, at most as far as *elapsed* seconds allow."""
    target = bounds.nearest(offset)
    if may_jump:
        return target
    step = min(elapsed * MAX_RATE, MAX_STEP)
    return min(max(target, offset - step), offset + step)


def monotonic_seconds() -> float:
    """Return the monotonic clock in seconds, to measure how long something took."""
    return time.monotonic()
