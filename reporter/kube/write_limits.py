"""
Limit writes: how many are in flight, how fast they start, and how long a failed one waits.

A failed write waits for its own back-off and delays no other.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace


MAX_PAUSE = timedelta(minutes=1)
"""The longest pause after a failed write, whatever the server asks for."""

Key = TypeVar("Key")


class WriteRate(NamedTuple):
    """
    The limits of writes: how many a second on average, at once after a rest, and in flight at a time.
    """

    per_second: float
    burst: float
    in_flight: int


class TokenBucket(Struct, frozen=True):
    """
    A token bucket: at most *burst* writes at once and *rate* writes a second on average.

    *tokens*: the tokens that were left at *updated_at*.
    """

    updated_at: datetime
    rate: float
    burst: float
    tokens: float

    def refilled(self, *, now: datetime) -> "TokenBucket":
        """Return the bucket at *now*; a clock that was set back adds nothing."""
        elapsed = max((now - self.updated_at).total_seconds(), 0.0)
        tokens = min(self.burst, self.tokens + elapsed * self.rate)
        # The wall clock may be set back; the same time must not be refilled twice.
        return replace(self, updated_at=max(now, self.updated_at), tokens=tokens)

    @property
    def has_token(self) -> bool:
        """True if a write may start at *updated_at*; refill the bucket before."""
        return self.tokens >= 1

    def with_token_taken(self) -> "TokenBucket":
        """
        Return the bucket after the start of one write. Ask *has_token* before: it may go below zero.
        """
        return replace(self, tokens=self.tokens - 1)

    @property
    def next_token_at(self) -> datetime:
        """The moment of the next whole token; *updated_at* if there is one already."""
        return self.updated_at + timedelta(seconds=max(1 - self.tokens, 0.0) / self.rate)


class WriteBackoff(Struct, frozen=True):
    """The back-off of one key after failed writes: one second, doubled up to a minute."""

    failures: int = 0
    retry_at: datetime = datetime.min.replace(tzinfo=UTC)

    def with_failure(
        self, *, now: datetime, retry_after: timedelta | None = None, jitter: float = 0.0
    ) -> "WriteBackoff":
        """
        Return the back-off after another failure.

        *retry_after*: the Retry-After of the server, honoured up to a minute. *jitter*: in [0, 1),
        shortens the pause by up to a quarter, so that writes that failed together spread.
        """
        # 2**6 exceeds the minute; the bound keeps the power small after thousands of failures.
        seconds = min(2.0 ** min(self.failures, 6), MAX_PAUSE.total_seconds()) * (
            1 - 0.25 * jitter
        )
        pause = max(timedelta(seconds=seconds), min(retry_after or timedelta(0), MAX_PAUSE))
        return WriteBackoff(self.failures + 1, now + pause)


class WriteLimits(Generic[Key]):
    """
    The keys in flight, the back-offs after failures and the token bucket.

    *jitter* returns random numbers in [0, 1).
    """

    def __init__(self, rate: WriteRate, *, now: datetime, jitter: Callable[[], float]) -> None:
        self._bucket = TokenBucket(now, rate.per_second, rate.burst, rate.burst)
        self._max_in_flight, self._jitter = rate.in_flight, jitter
        self._in_flight: set[Key] = set()
        self._backoffs: dict[Key, WriteBackoff] = {}

    def start_due(
        self, waiting: Mapping[Key, datetime], *, now: datetime
    ) -> tuple[list[Key], datetime | None]:
        """
        Return the keys to write now, which are in flight from here on, and when to look again.

        *waiting*: when each key is due, in the order of importance. A back-off is forgotten once it is
        over and its key waits no longer.
        """
        backoffs = self._backoffs = {
            key: each
            for key, each in self._backoffs.items()
            if key in waiting or each.retry_at > now
        }
        self._refill_bucket(now)
        due: list[Key] = []
        later: list[datetime] = []
        for key, due_at in waiting.items():
            if key in self._in_flight:
                continue
            at = max(due_at, backoffs[key].retry_at) if key in backoffs else due_at
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
        """Take a key out of those in flight, whatever became of its write."""
        self._in_flight.discard(key)

    def failures(self, key: Key) -> int:
        """Return the number of failed tries of a key in a row."""
        return self._backoffs.get(key, WriteBackoff()).failures

    def succeeded(self, key: Key) -> None:
        """Forget the back-off of a key, so that its next write starts as soon as it is due."""
        self._backoffs.pop(key, None)

    def failed(self, key: Key, *, now: datetime, retry_after: timedelta | None = None) -> None:
        """Make a key wait for its back-off, and at least for *retry_after*; a minute at most."""
        before = self._backoffs.get(key, WriteBackoff())
        self._backoffs[key] = before.with_failure(
            now=now, retry_after=retry_after, jitter=self._jitter()
        )

    def forget_backoffs(self) -> None:
        """
        Forget all failures, so that no write of a new term of leadership waits for those of an old one.
        """
        self._backoffs.clear()
