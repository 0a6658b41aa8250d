"""
The one place that reads the clock.
"""

import time
from datetime import UTC, datetime, timedelta


MAX_ROUND_TRIP = 5.0
"""
Seconds; an answer that took longer says too little about the server's time.
"""


class Clock:
    """
    The API server's time, as far as it is known, carried on by the local monotonic clock.

    A local wall clock that is wrong or jumps changes nothing once the server has answered; the
    Date header has a resolution of one second (RFC 9110, 6.6.1), so a clock inside it is left alone.
    """

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.monotonic() + self._offset, UTC)

    def correct(self, date: datetime, *, sent: float, received: float) -> None:
        """
        Take the server's Date of an answer; *sent* and *received* in seconds of the event loop.
        """
        if received - sent > MAX_ROUND_TRIP:
            return
        earliest = date.timestamp() - received
        latest = (date + timedelta(seconds=1)).timestamp() - sent
        self._offset = min(max(self._offset, earliest), latest)


def monotonic_seconds() -> float:
    """
    Seconds of the monotonic clock, for how long something took.
    """
    return time.monotonic()
