"""
How fast Events may be written: a token bucket, and the pauses after refusals.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """
    At most *burst* at once, *rate* a second on average; *level* tokens are left at *at*.
    """

    updated_at: datetime
    rate: float = 10.0
    burst: float = 50.0
    tokens: float = 50.0

    def refilled(self, *, now: datetime) -> "TokenBucket":
        passed = max((now - self.updated_at).total_seconds(), 0.0)
        level = min(self.burst, self.tokens + passed * self.rate)
        return replace(self, updated_at=max(now, self.updated_at), tokens=level)

    @property
    def has_token(self) -> bool:
        return self.tokens >= 1

    def with_token_taken(self) -> "TokenBucket":
        return replace(self, tokens=self.tokens - 1)

    @property
    def next_token_at(self) -> datetime:
        """
        When there will be a token.
        """
        return self.updated_at + timedelta(seconds=max(1 - self.tokens, 0.0) / self.rate)


@dataclass(frozen=True, slots=True)
class WriteBackoff:
    """
    The pauses of one key after failed writes: a second, doubled up to a minute.
    """

    failures: int = 0
    retry_at: datetime | None = None

    def with_failure(
        self, *, now: datetime, retry_after: timedelta | None = None, jitter: float = 0.0
    ) -> "WriteBackoff":
        """
        *asked*: the server's Retry-After; *chance* in [0, 1) spreads those that failed together.
        """
        grown = timedelta(seconds=min(2.0 ** min(self.failures, 6), 60.0) * (1 - 0.25 * jitter))
        return WriteBackoff(self.failures + 1, now + max(grown, retry_after or timedelta(0)))
