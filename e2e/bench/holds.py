"""
For how long the reporter's event loop was held at a time, as its metrics tell it.
"""

import math
from dataclasses import dataclass
from typing import Self

from e2e.reporter_process import METRICS, ReporterProcess


_BUCKET = f'{METRICS}loop_hold_seconds_bucket{{le="'


@dataclass(frozen=True)
class Holds:
    """
    *within*: how many were at most so many seconds long, by seconds.
    """

    within: dict[float, int]

    @classmethod
    def of(cls, reporter: ReporterProcess) -> Self:
        """
        Since its start.
        """
        found = {}
        for line in reporter.metrics().splitlines():
            if line.startswith(_BUCKET):
                bound, _, count = line.removeprefix(_BUCKET).partition('"} ')
                found[float(bound)] = int(float(count))
        return cls(found)

    def since(self, before: Self) -> "Holds":
        return Holds({bound: n - before.within[bound] for bound, n in self.within.items()})

    @property
    def count(self) -> int:
        return self.within[math.inf]

    def over(self, seconds: float) -> int:
        return self.count - self.within[seconds]

    @property
    def longest(self) -> str:
        """
        Between which bounds, in milliseconds.
        """
        bounds = sorted(self.within)
        last = next(at for at, bound in enumerate(bounds) if self.within[bound] == self.count)
        least = bounds[last - 1] if last else 0.0
        most = bounds[last]
        return f"{least * 1000:g} to {most * 1000:g} ms" if most < math.inf else f"> {least:g} s"
