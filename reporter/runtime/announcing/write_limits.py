"""
Limit writes: how many are in flight, how fast they start, and how long a failed one waits.

Reads no clock and does no I/O. A failed write waits for its own back-off and delays no other.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from msgspec.structs import replace

from reporter.stages.announcing.rate_limit import TokenBucket, WriteBackoff


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
