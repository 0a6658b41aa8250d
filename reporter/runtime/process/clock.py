"""
The only module that reads the clocks.
"""

import time
from datetime import UTC, datetime, timedelta


MAX_ROUND_TRIP = 5.0
"""
Seconds; an answer that took longer says too little about the server's time.
"""


class Clock:
    """
    The API server's time, as far as it is known, continued by the local monotonic clock.

    A local wall clock that is wrong or jumps has no effect once the server has answered. The Date
    header has a resolution of one second (RFC 9110, section 6.6.1), so an offset that agrees with
    it within that second stays as it is.
    """

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.monotonic() + self._offset, UTC)

    def correct(self, date: datetime, *, sent: float, received: float) -> None:
        """
        Take the Date of an answer; *sent* and *received* are seconds of the event loop.
        """
        if received - sent > MAX_ROUND_TRIP:
            return
        earliest = date.timestamp() - received
        latest = (date + timedelta(seconds=1)).timestamp() - sent
        self._offset = min(max(self._offset, earliest), latest)


def monotonic_seconds() -> float:
    """
    Return the monotonic clock in seconds, to measure how long something took.
    """
    return time.monotonic()
