"""
Estimate the API server's time from the Date headers of its answers. Pure.

Several API servers may stand behind one address, and the clock of one may be wrong. So the median
of many answers counts. Load balancers choose a server per connection or per request, so only a few
answers of each connection count: the many requests of one connection must not outvote the others.

Times are in seconds of a local clock that never jumps.
"""

from collections import deque
from collections.abc import Hashable, Iterator
from datetime import UTC, datetime

from msgspec import Struct


PLAUSIBLE_YEARS = range(2000, 9000)
"""Years that a clock may show; near the limits of datetime additions would overflow."""


def parse_http_date(text: str) -> datetime | None:
    """Parse a Date header; None if it is invalid, has no zone, or an implausible year."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  whoever has the clock alone needs none of it

    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo is not None and date.year in PLAUSIBLE_YEARS else None


MAX_ROUND_TRIP = 5.0
"""Seconds; an answer that took longer says too little about the server's time."""

MAX_ANSWERS_OF_CONNECTION = 5
MAX_CONNECTIONS = 64
MAX_AGE = 900.0
"""
Seconds after which an answer no longer counts. It exceeds the longest watch, because a watch is
one answer for as long as it lasts.
"""


_LOCAL = object()
"""Stands for a connection to the machine's own clock."""


class OffsetBounds(Struct, frozen=True):
    """
    The least and the greatest offset, in seconds, from the local clock to Unix time.

    *spread*: how far the server's answer that differs most lies outside of these bounds.
    """

    earliest: float
    latest: float
    spread: float = 0.0

    def nearest(self, offset: float) -> float:
        """Return *offset* if it is within the bounds, or else the bound that is nearer; in seconds."""
        return min(max(offset, self.earliest), self.latest)


class _Answer(Struct, frozen=True):
    received: float
    earliest: float
    latest: float


class ServerTime:
    """
    The estimate of the servers' clock from the Date headers of their answers.

    *local_offset*: the offset of the machine's own clock. It counts as one answer, so that a first
    answer that is wrong does not decide alone.
    """

    def __init__(self, *, local_offset: float | None = None, started: float = 0.0) -> None:
        self._answers: dict[Hashable, deque[_Answer]] = {}
        self._bounds: OffsetBounds | None = None  # of these answers, once they were asked for
        if local_offset is not None:
            self._add(_LOCAL, _Answer(started, local_offset, local_offset))

    def record(
        self, date: datetime, *, sent: float, received: float, connection: Hashable = ""
    ) -> None:
        """
        Record the Date of an answer.

        It has a resolution of one second (RFC 9110, section 6.6.1), and was set at any moment
        between *sent* and *received*.
        """
        if received - sent > MAX_ROUND_TRIP:
            return
        unix = date.timestamp()
        self._add(connection, _Answer(received, unix - received, unix + 1 - sent))
        self._drop_old(received)

    def bounds(self) -> OffsetBounds | None:
        """
        Return bounds of the true offset, if more than half of the answers are right.

        None without any answer.
        """
        if self._bounds is None and self._answers:
            self._bounds = self._find_bounds()
        return self._bounds

    def _find_bounds(self) -> OffsetBounds:
        answers = list(self._counted())
        of_servers = (
            each
            for connection in self._answers.keys() - {_LOCAL}
            for each in self._answers[connection]
        )
        # The low and the high median: statistics, which has them, takes milliseconds to import.
        earliest = sorted(each.earliest for each in answers)[(len(answers) - 1) // 2]
        latest = sorted(each.latest for each in answers)[len(answers) // 2]
        outside = (max(each.earliest - latest, earliest - each.latest) for each in of_servers)
        return OffsetBounds(earliest, latest, max((0.0, *outside)))

    def at(self, seconds: float) -> datetime | None:
        """
        Return the server's time at *seconds* of the local clock; None before the first answer.

        It is the earliest time that the bounds allow.
        """
        bounds = self.bounds()
        return None if bounds is None else datetime.fromtimestamp(seconds + bounds.earliest, UTC)

    def _counted(self) -> Iterator[_Answer]:
        return (each for answers in self._answers.values() for each in answers)

    def _add(self, connection: Hashable, answer: _Answer) -> None:
        """Add an answer; its connection becomes the one that was used last."""
        answers = self._answers.pop(connection, None) or deque(maxlen=MAX_ANSWERS_OF_CONNECTION)
        answers.append(answer)
        self._answers[connection] = answers
        self._bounds = None

    def _drop_old(self, now: float) -> None:
        while len(self._answers) > MAX_CONNECTIONS:
            del self._answers[next(iter(self._answers))]
        for connection, answers in tuple(self._answers.items()):
            while answers and now - answers[0].received > MAX_AGE:
                answers.popleft()
            if not answers:
                del self._answers[connection]
