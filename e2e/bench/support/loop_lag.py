"""
For how long the reporter's event loop was held at a time, as its metrics tell it.
"""

import math
from dataclasses import dataclass
from typing import Self

from e2e.support.reporter_process import METRICS, ReporterProcess


_BUCKET = f'{METRICS}event_loop_lag_seconds_bucket{{le="'


@dataclass(frozen=True)
class LoopLagHistogram:
    """
    *within*: how many were at most so many seconds long, by seconds.
    """

    counts_by_bound: dict[float, int]

    @classmethod
    def read(cls, reporter: ReporterProcess) -> Self:
        """
        Since its start.
        """
        found = {}
        for line in reporter.metrics().splitlines():
            if line.startswith(_BUCKET):
                bound, _, count = line.removeprefix(_BUCKET).partition('"} ')
                found[float(bound)] = int(float(count))
        return cls(found)

    def since(self, before: Self) -> "LoopLagHistogram":
        return LoopLagHistogram(
            {bound: n - before.counts_by_bound[bound] for bound, n in self.counts_by_bound.items()}
        )

    @property
    def count(self) -> int:
        return self.counts_by_bound[math.inf]

    def count_over(self, seconds: float) -> int:
        return self.count - self.counts_by_bound[seconds]

    @property
    def longest(self) -> str:
        """
        Between which bounds, in milliseconds.
        """
        bounds = sorted(self.counts_by_bound)
        last = next(
            at for at, bound in enumerate(bounds) if self.counts_by_bound[bound] == self.count
        )
        least = bounds[last - 1] if last else 0.0
        most = bounds[last]
        return f"{least * 1000:g} to {most * 1000:g} ms" if most < math.inf else f"> {least:g} s"
