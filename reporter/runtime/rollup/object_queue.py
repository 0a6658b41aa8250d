"""
The statuses to write: which start now, and which wait for how long.

Reads no clock and does no I/O. Changes go before renewed times of evaluation; a write that failed
waits for its own back-off and delays no other.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from reporter.model.kinds.base.objects import NamespacedName
from reporter.stages.announcing.rate_limit import TokenBucket, WriteBackoff
from reporter.stages.rollup.objects.wanted import Json


MAX_CONCURRENT_WRITES = 4


class WriteRate(NamedTuple):
    """
    The writes a second on average, and at once.
    """

    per_second: float = 2.0
    burst: float = 20.0


DEFAULT_RATE = WriteRate()


class PendingObject(NamedTuple):
    """
    One object to write; the first in order is the most important.

    *is_renewal*: only its time of evaluation is to be written.
    """

    is_renewal: bool
    due_at: datetime
    name: NamespacedName


class ObjectWrite(NamedTuple):
    """
    A status to write, whole and as a patch.
    """

    wanted: Json
    patch: Json


class ObjectQueue:
    """
    The objects in flight, the back-offs after failures and the token bucket.

    *jitter* returns random numbers in [0, 1).
    """

    def __init__(
        self, *, now: datetime, jitter: Callable[[], float], rate: WriteRate = DEFAULT_RATE
    ) -> None:
        self._jitter = jitter
        self._bucket = TokenBucket(now, rate.per_second, rate.burst, rate.burst)
        self._in_flight: set[NamespacedName] = set()
        self._backoffs: dict[NamespacedName, WriteBackoff] = {}

    @property
    def failing(self) -> int:
        """
        The number of objects whose last write failed.
        """
        return len(self._backoffs)

    def take_due(
        self, pending: Iterable[PendingObject], *, now: datetime
    ) -> tuple[list[NamespacedName], datetime | None]:
        """
        Return the objects to write now, which are in flight from here on, and when to look again.
        """
        self._refill_bucket(now)
        due: list[NamespacedName] = []
        later: list[datetime] = []
        for each in sorted(pending):
            backoff = self._backoffs.get(each.name)
            retry_at = backoff.retry_at if backoff is not None else None
            at = max(each.due_at, retry_at or each.due_at)
            if each.name in self._in_flight:
                continue
            if at > now:
                later.append(at)
                continue
            if len(self._in_flight) >= MAX_CONCURRENT_WRITES:
                break
            if not self._bucket.has_token:
                later.append(self._bucket.next_token_at)
                break
            self._bucket = self._bucket.with_token_taken()
            self._in_flight.add(each.name)
            due.append(each.name)
        return due, min(later, default=None)

    def _refill_bucket(self, now: datetime) -> None:
        # The server's first answers may set the clock back, which must not stop the refill.
        at = min(self._bucket.updated_at, now)
        self._bucket = replace(self._bucket, updated_at=at).refilled(now=now)

    def finished(self, name: NamespacedName) -> None:
        """
        A write is no longer in flight, whatever became of it.
        """
        self._in_flight.discard(name)

    def succeeded(self, name: NamespacedName) -> None:
        self._backoffs.pop(name, None)

    def failed(
        self, name: NamespacedName, *, now: datetime, retry_after: timedelta | None = None
    ) -> WriteBackoff:
        """
        Return the new back-off of the object.
        """
        before = self._backoffs.get(name, WriteBackoff())
        after = before.with_failure(now=now, retry_after=retry_after, jitter=self._jitter())
        self._backoffs[name] = after
        return after

    def keep_only(self, existing: Mapping[NamespacedName, object]) -> None:
        """
        Forget the back-offs of objects that are not there any longer.
        """
        self._backoffs = {name: each for name, each in self._backoffs.items() if name in existing}

    def forget_backoffs(self) -> None:
        self._backoffs.clear()
