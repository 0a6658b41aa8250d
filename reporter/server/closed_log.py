"""Count the connections that the server closes early, and log some of them."""

import logging
from collections.abc import Callable
from datetime import timedelta

from reporter.model.enums import ClosedConnection


LOG_INTERVAL = timedelta(minutes=1)
"""At most one line per reason and interval: clients that misbehave must not fill the log."""

LEVELS = {ClosedConnection.CROWDED_OUT: logging.WARNING}
TEXTS = {
    ClosedConnection.MALFORMED: "it sent no HTTP/1 request",
    ClosedConnection.SLOW_REQUEST: "its request did not arrive in time",
    ClosedConnection.SLOW_READER: "it did not read the response in time",
    ClosedConnection.IDLE: "it sent no request in time",
    ClosedConnection.CROWDED_OUT: "there were too many connections, and it had most of them",
}

logger = logging.getLogger(__name__)


class ClosedConnectionLog:
    """
    Logs and counts the connections that the server closes early.

    *count*: called each time. *now*: returns monotonic seconds.
    """

    def __init__(
        self, count: Callable[[ClosedConnection], None], now: Callable[[], float]
    ) -> None:
        self._count, self._now = count, now
        self._logged_at: dict[ClosedConnection, float] = {}
        self._unlogged = dict.fromkeys(ClosedConnection, 0)

    def record(self, why: ClosedConnection, client: str) -> None:
        self._count(why)
        self._unlogged[why] += 1
        now, last = self._now(), self._logged_at.get(why)
        if last is not None and now - last < LOG_INTERVAL.total_seconds():
            return
        self._logged_at[why] = now
        logger.log(
            LEVELS.get(why, logging.DEBUG),
            "closed a connection of %s: %s (%d since the last such line)",
            client or "no client",
            TEXTS[why],
            self._unlogged[why],
        )
        self._unlogged[why] = 0
