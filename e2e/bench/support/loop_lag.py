"""The lag of the reporter's event loop, by its metrics."""

import math
from dataclasses import dataclass
from typing import Self

from e2e.support.reporter_process import METRICS, ReporterProcess


_BUCKET = f'{METRICS}event_loop_lag_seconds_bucket{{le="'


@dataclass(frozen=True)
class LoopLagHistogram:
    """
    The cumulative histogram of the lag; *counts_by_bound* has counts by upper bound in seconds.
    """

    counts_by_bound: dict[float, int]

    @classmethod
    def read(cls, reporter: ReporterProcess) -> Self:
        """Read the histogram of a reporter since its start."""
        counts = {}
        for line in reporter.metrics().splitlines():
            if line.startswith(_BUCKET):
                bound, _, count = line.removeprefix(_BUCKET).partition('"} ')
                counts[float(bound)] = int(float(count))
        return cls(counts)

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
        """Return the bucket of the longest lag, in milliseconds."""
        bounds = sorted(self.counts_by_bound)
        last = next(
            index
            for index, bound in enumerate(bounds)
            if self.counts_by_bound[bound] == self.count
        )
        least = bounds[last - 1] if last else 0.0
        most = bounds[last]
        return f"{least * 1000:g} to {most * 1000:g} ms" if most < math.inf else f"> {least:g} s"
