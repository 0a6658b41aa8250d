"""
How fast Events may be written: a token bucket, and the pauses after refusals.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Bucket:
    """
    At most *burst* at once, *rate* a second on average; *level* tokens are left at *at*.
    """

    at: datetime
    rate: float = 10.0
    burst: float = 50.0
    level: float = 50.0

    def filled(self, *, now: datetime) -> "Bucket":
        passed = max((now - self.at).total_seconds(), 0.0)
        level = min(self.burst, self.level + passed * self.rate)
        return replace(self, at=max(now, self.at), level=level)

    @property
    def may(self) -> bool:
        return self.level >= 1

    def taken(self) -> "Bucket":
        return replace(self, level=self.level - 1)

    @property
    def next(self) -> datetime:
        """
        When there will be a token.
        """
        return self.at + timedelta(seconds=max(1 - self.level, 0.0) / self.rate)


@dataclass(frozen=True, slots=True)
class Retry:
    """
    The pauses of one key after failed writes: a second, doubled up to a minute.
    """

    failures: int = 0
    until: datetime | None = None

    def failed(
        self, *, now: datetime, asked: timedelta | None = None, chance: float = 0.0
    ) -> "Retry":
        """
        *asked*: the server's Retry-After; *chance* in [0, 1) spreads those that failed together.
        """
        grown = timedelta(seconds=min(2.0 ** min(self.failures, 6), 60.0) * (1 - 0.25 * chance))
        return Retry(self.failures + 1, now + max(grown, asked or timedelta(0)))
