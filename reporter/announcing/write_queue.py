"""
The writes that are pending in this process: which start now, and which wait for how long.

Reads no clock and does no I/O.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from msgspec.structs import replace

from reporter.announcing.rate_limit import TokenBucket, WriteBackoff
from reporter.announcing.schedule import PendingWrite, PublishContext
from reporter.evaluation.evaluation import Evaluation
from reporter.model.subjects import FindingKey


# --------------------------------------------------------------------
# Limit writes: how many are in flight, how fast they start, and how long a failed one waits.
#
# Reads no clock and does no I/O. A failed write waits for its own back-off and delays no other.


Key = TypeVar("Key")


class WriteLimits(Generic[Key]):
    """
    The keys in flight, the back-offs after failures and the token bucket.

    *max_in_flight*: one write that hangs must not delay the others. *jitter* returns random numbers in
    [0, 1).
    """

    def __init__(
        self, bucket: TokenBucket, *, max_in_flight: int, jitter: Callable[[], float]
    ) -> None:
        self._bucket, self._max_in_flight, self._jitter = bucket, max_in_flight, jitter
        self._in_flight: set[Key] = set()
        self._backoffs: dict[Key, WriteBackoff] = {}

    @property
    def failing(self) -> int:
        """The number of keys whose last write failed."""
        return len(self._backoffs)

    def start_due(
        self, waiting: Iterable[tuple[Key, datetime]], *, now: datetime
    ) -> tuple[list[Key], datetime | None]:
        """
        Return the keys to write now, which are in flight from here on, and when to look again.

        *waiting*: the keys in the order of their importance, each with the time at which it is due.
        """
        self._refill_bucket(now)
        due: list[Key] = []
        later: list[datetime] = []
        for key, due_at in waiting:
            if key in self._in_flight:
                continue
            backoff = self._backoffs.get(key)
            at = due_at if backoff is None else max(due_at, retry_at(backoff))
            if at > now:
                later.append(at)
                continue
            if len(self._in_flight) >= self._max_in_flight:
                break
            if not self._bucket.has_token:
                return due, self._bucket.next_token_at
            self._bucket = self._bucket.with_token_taken()
            self._in_flight.add(key)
            due.append(key)
        return due, min(later, default=None)

    def _refill_bucket(self, now: datetime) -> None:
        # The server's first answers may set the clock back, which must not stop the refill.
        at = min(self._bucket.updated_at, now)
        self._bucket = replace(self._bucket, updated_at=at).refilled(now=now)

    def finished(self, key: Key) -> None:
        """A write is no longer in flight, whatever became of it."""
        self._in_flight.discard(key)

    def succeeded(self, key: Key) -> int:
        """Return after how many failures in a row."""
        return self._backoffs.pop(key, WriteBackoff()).failures

    def failed(
        self, key: Key, *, now: datetime, retry_after: timedelta | None = None
    ) -> WriteBackoff:
        """Return the new back-off of the key."""
        before = self._backoffs.get(key, WriteBackoff())
        after = before.with_failure(now=now, retry_after=retry_after, jitter=self._jitter())
        self._backoffs[key] = after
        return after

    def keep_backoffs(self, is_kept: Callable[[Key, WriteBackoff], bool]) -> None:
        """Forget the other back-offs."""
        self._backoffs = {key: each for key, each in self._backoffs.items() if is_kept(key, each)}

    def forget_backoffs(self) -> None:
        self._backoffs.clear()


def retry_at(backoff: WriteBackoff) -> datetime:
    """Return when a back-off after a failure ends."""
    assert backoff.retry_at is not None  # noqa: S101  set by every failure
    return backoff.retry_at


MAX_CONCURRENT_WRITES = 8


class WriteQueue(WriteLimits[FindingKey]):
    """The pending writes by key, within the limits of writes."""

    def __init__(self, *, now: datetime, jitter: Callable[[], float]) -> None:
        super().__init__(TokenBucket(now), max_in_flight=MAX_CONCURRENT_WRITES, jitter=jitter)
        self._pending: dict[FindingKey, PendingWrite] = {}
        self._finished: set[FindingKey] = set()
        self._scheduled: Evaluation | None = None

    def update(self, context: PublishContext, *, now: datetime) -> None:
        """
        Schedule everything anew after an Evaluation, and after a write only its key, as the last.

        A write that failed keeps its place. A backoff is forgotten once its key is no longer due.
        """
        pending = self._pending
        if context.evaluation is not self._scheduled:
            pending = {write.key: write for write in context.pending_writes(now=now)}
            self._scheduled = context.evaluation
        else:
            for key in self._finished:
                write = context.pending_write(key, now=now)
                if write is None or write.due_at > now:
                    pending.pop(key, None)
                if write is not None:
                    pending[key] = write
        self._pending = pending
        self._finished.clear()
        self.keep_backoffs(lambda key, backoff: key in pending or retry_at(backoff) > now)

    def take_due(self, *, now: datetime) -> tuple[list[FindingKey], datetime | None]:
        """
        Return the keys to write now, which are in flight from here on, and when to look again.
        """
        return self.start_due(
            ((write.key, write.due_at) for write in self._pending.values()), now=now
        )

    def finished(self, key: FindingKey) -> None:
        super().finished(key)
        self._finished.add(key)

    def schedule_anew(self) -> None:
        """Schedule everything at the next update, even if the Evaluation is the same."""
        self._scheduled = None
