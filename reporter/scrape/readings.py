"""The recent numbers of the engines of one pod, as values."""

from array import array
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType

from msgspec import Struct, field

from reporter.scrape.columns import Column


class EngineSeries(Struct, frozen=True):
    """
    The numbers of one engine, oldest first: a row for each page that is kept. An array is never changed.

    A row has a number per column, NaN where its page has none. *times*: of the rows, in seconds of the
    pod's observed time. *first_at*: of the first page after the last reset of a counter. *changed_at*: when each column first had the value that it has now.
    *positive_since*: since when each column has been above 0, NaN if it is not.
    """

    times: tuple[float, ...]
    rows: tuple["array[float]", ...]
    first_at: float
    changed_at: "array[float]"
    positive_since: "array[float]"

    def newest_first(self) -> Iterator[tuple[float, "array[float]"]]:
        """Yield each row with its time, in seconds of the pod's observed time, newest first."""
        return zip(reversed(self.times), reversed(self.rows), strict=True)


class EngineReadings(Struct, frozen=True):
    """
    The numbers of all engines of a pod, by the value of their engine label.

    *observed*: the seconds for which the pod was observed in this run: the sum of the distances
    between pages that followed each other without a gap. A gap, or a clock that jumps, adds nothing
    to it, so every window stands still meanwhile. *read_at*: when the newest page was read. *left_out*:
    how many more engines the newest page has than are kept. *longest_gap*: seconds between two pages
    for which the pod counted as observed last.
    """

    columns: tuple[Column, ...]
    read_at: datetime | None = None
    observed: float = 0.0
    by_engine: Mapping[str, EngineSeries] = field(default_factory=lambda: MappingProxyType({}))
    left_out: int = 0
    longest_gap: float = 0.0
