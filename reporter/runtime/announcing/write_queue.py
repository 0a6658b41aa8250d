"""
The writes that are pending in this process: which start now, and which wait for how long.

Reads no clock and does no I/O. A failed write waits for its own backoff and delays no other.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from reporter.model.subjects import FindingKey
from reporter.stages.announcing.rate_limit import TokenBucket, WriteBackoff
from reporter.stages.announcing.schedule import PendingWrite, PublishContext
from reporter.stages.evaluation.evaluation import Evaluation


MAX_CONCURRENT_WRITES = 8
"""
Writes in flight at the same time: one that hangs must not delay the others.
"""


class WriteQueue:
    """
    The pending writes by key, the keys in flight, the backoffs after failures and the token bucket.

    *jitter* returns random numbers in [0, 1).
    """

    def __init__(self, *, now: datetime, jitter: Callable[[], float]) -> None:
        self._jitter = jitter
        self._bucket = TokenBucket(now)
        self._backoffs: dict[FindingKey, WriteBackoff] = {}
        self._pending: dict[FindingKey, PendingWrite] = {}
        self._in_flight: set[FindingKey] = set()
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
        self._backoffs = {
            k: b for k, b in self._backoffs.items() if k in pending or retry_at(b) > now
        }

    def take_due(self, *, now: datetime) -> tuple[list[FindingKey], datetime | None]:
        """
        Return the keys to write now, which are in flight from here on, and when to look again.
        """
        self._refill_bucket(now)
        due: list[FindingKey] = []
        later: list[datetime] = []
        for write in self._pending.values():
            if write.key in self._in_flight:
                continue
            backoff = self._backoffs.get(write.key)
            at = write.due_at if backoff is None else max(write.due_at, retry_at(backoff))
            if at > now:
                later.append(at)
                continue
            if len(self._in_flight) >= MAX_CONCURRENT_WRITES:
                break
            if not self._bucket.has_token:
                return due, self._bucket.next_token_at
            self._bucket = self._bucket.with_token_taken()
            self._in_flight.add(write.key)
            due.append(write.key)
        return due, min(later, default=None)

    def _refill_bucket(self, now: datetime) -> None:
        # The server's first answers may set the clock back, which must not stop the refill.
        at = min(self._bucket.updated_at, now)
        self._bucket = replace(self._bucket, updated_at=at).refilled(now=now)

    def finished(self, key: FindingKey) -> None:
        """
        A write is no longer in flight, whatever became of it.
        """
        self._in_flight.discard(key)
        self._finished.add(key)

    def succeeded(self, key: FindingKey) -> int:
        """
        Return after how many failures in a row.
        """
        return self._backoffs.pop(key, WriteBackoff()).failures

    def failed(
        self, key: FindingKey, *, now: datetime, retry_after: timedelta | None = None
    ) -> WriteBackoff:
        """
        Return the new backoff of the key.
        """
        before = self._backoffs.get(key, WriteBackoff())
        after = before.with_failure(now=now, retry_after=retry_after, jitter=self._jitter())
        self._backoffs[key] = after
        return after

    def schedule_anew(self) -> None:
        """
        Schedule everything at the next update, even if the Evaluation is the same.
        """
        self._scheduled = None

    def forget_backoffs(self) -> None:
        self._backoffs.clear()


def retry_at(backoff: WriteBackoff) -> datetime:
    """
    Return when a backoff after a failure ends.
    """
    assert backoff.retry_at is not None  # noqa: S101  set by every failure
    return backoff.retry_at
