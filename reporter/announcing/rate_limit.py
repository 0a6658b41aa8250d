"""Limit the rate of Event writes: a token bucket for all, and a back-off for each refused one."""

from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace


MAX_PAUSE = timedelta(minutes=1)
"""The longest pause after a failed write, whatever the server asks for."""


class TokenBucket(Struct, frozen=True):
    """
    A token bucket: at most *burst* writes at once and *rate* writes a second on average.

    *tokens*: the tokens that were left at *updated_at*.
    """

    updated_at: datetime
    rate: float = 10.0
    burst: float = 50.0
    tokens: float = 50.0

    def refilled(self, *, now: datetime) -> "TokenBucket":
        elapsed = max((now - self.updated_at).total_seconds(), 0.0)
        tokens = min(self.burst, self.tokens + elapsed * self.rate)
        # The wall clock may be set back; the same time must not be refilled twice.
        return replace(self, updated_at=max(now, self.updated_at), tokens=tokens)

    @property
    def has_token(self) -> bool:
        return self.tokens >= 1

    def with_token_taken(self) -> "TokenBucket":
        return replace(self, tokens=self.tokens - 1)

    @property
    def next_token_at(self) -> datetime:
        return self.updated_at + timedelta(seconds=max(1 - self.tokens, 0.0) / self.rate)


class WriteBackoff(Struct, frozen=True):
    """The back-off of one key after failed writes: one second, doubled up to a minute."""

    failures: int = 0
    retry_at: datetime | None = None

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
