"""The recent numbers of one engine, read by column."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import isnan
from typing import NamedTuple

from msgspec import Struct

from reporter.model.metrics.columns import Column
from reporter.model.metrics.page_rows import POD_ROW
from reporter.model.metrics.readings import EngineReadings, EngineSeries


class Sustained(NamedTuple):
    """
    The seconds up to now for which a condition held on every page.

    *began_seen*: an earlier page of this run shows that it did not hold before.
    """

    seconds: float
    began_seen: bool


class Increase(NamedTuple):
    """The increases of some counters within the same stretch of time, of *seconds*."""

    seconds: float
    by_column: tuple[float, ...]


class EngineView(Struct, frozen=True, gc=False):
    """
    *name*: the value of the engine label, empty without one. *positions*: of the columns in a row.

    A pass builds one for each engine, so it is a struct: cheaper than a dataclass.
    """

    name: str
    series: EngineSeries
    readings: EngineReadings
    positions: Mapping[Column, int]

    @property
    def now(self) -> float:
        """The time of the newest page, in seconds of observed time."""
        return self.readings.observed

    def server(self) -> "EngineView | None":
        """Return the row of the pod's HTTP server, None if the page has none."""
        series = self.readings.by_engine.get(POD_ROW)
        if series is None:
            return None
        return EngineView(POD_ROW, series, self.readings, self.positions)

    def value(self, column: Column) -> float | None:
        """Return the newest number, None if the page has none."""
        return _number(self.series.rows[-1][self.positions[column]])

    def changed_at(self, column: Column) -> float:
        return self.series.changed_at[self.positions[column]]

    def positive_since(self, column: Column) -> float | None:
        return _number(self.series.positive_since[self.positions[column]])

    def last_change(self, columns: Iterable[Column]) -> float:
        return max(self.changed_at(each) for each in columns)

    def pages_since(self, moment: float) -> int:
        return sum(at >= moment for at in self.series.times)

    def holds(self, condition: Callable[[Mapping[Column, float]], bool]) -> bool:
        """Return whether a condition holds on the newest page."""
        _, newest = next(self._pages_back())
        return condition(newest)

    def sustained(self, holds: Callable[[Mapping[Column, float]], bool]) -> Sustained:
        """
        Return how long a condition has held; it reads the numbers of a page, absent ones left out.
        """
        since = self.now
        for at, values in self._pages_back():
            if not holds(values):
                return Sustained(self.now - since, began_seen=True)
            since = at
        return Sustained(self.now - since, began_seen=False)

    def working_since(self, columns: Iterable[Column], within: float) -> float:
        """
        Return since when one of these changed at least every *within* seconds; now if none does.

        It may have changed at any time between two pages that differ, however far apart they are.
        """
        indexes = [self.positions[each] for each in columns]
        resumed, still, newer = self.now, 0.0, None
        for at, row in self.series.newest_first():
            if newer is None:
                pass
            elif any(not _is_same(newer[1][i], row[i]) for i in indexes):
                resumed, still = at, 0.0
            else:
                still += newer[0] - at
                if still >= within:
                    return resumed
            newer = at, row
        return self.series.times[0]

    def value_before(self, column: Column, seconds: float) -> float | None:
        """Return the number of so long ago, or of the oldest page."""
        return _number(self._row_before(seconds)[1][self.positions[column]])

    def increase(self, seconds: float, *columns: Column) -> Increase:
        """
        Return the increase within so long, or since the oldest page.

        A counter that was not on the earlier page has no known increase, which counts as 0.
        """
        at, before = self._row_before(seconds)
        newest = self.series.rows[-1]
        found = (newest[i] - before[i] for i in map(self.positions.__getitem__, columns))
        return Increase(self.now - at, tuple(_number(each) or 0.0 for each in found))

    def has_changed(self, columns: Iterable[Column]) -> bool:
        """Return whether one of these is another than on the oldest page, also after gaps."""
        oldest, newest = self.series.rows[0], self.series.rows[-1]
        indexes = map(self.positions.__getitem__, columns)
        return any(not _is_same(newest[i], oldest[i]) for i in indexes)

    def _row_before(self, seconds: float) -> tuple[float, "array[float]"]:
        oldest = self.series.times[0], self.series.rows[0]
        old_enough = (each for each in self.series.newest_first() if self.now - each[0] >= seconds)
        return next(old_enough, oldest)

    def _pages_back(self) -> Iterator[tuple[float, Mapping[Column, float]]]:
        for at, row in self.series.newest_first():
            pairs = zip(self.readings.columns, row, strict=True)
            yield at, {column: value for column, value in pairs if not isnan(value)}


def engine_views(readings: EngineReadings, marks: tuple[Column, ...]) -> list[EngineView]:
    """Return the engines of a page: the rows that have or had a number in one of these columns."""
    positions, marked = _layout(readings.columns, marks)
    return [
        EngineView(name, series, readings, positions)
        for name, series in readings.by_engine.items()
        if _has_number(series, marked)
    ]


@lru_cache(maxsize=64)
def _layout(
    columns: tuple[Column, ...], marks: tuple[Column, ...]
) -> tuple[Mapping[Column, int], Sequence[int]]:
    """Return the positions of all columns of a row, and those of *marks*."""
    positions = {column: position for position, column in enumerate(columns)}
    return positions, [positions[each] for each in marks]


def _has_number(series: EngineSeries, marked: Sequence[int]) -> bool:
    # A loop, as a generator costs more than the first number, which is nearly always there.
    for row in series.rows:
        for position in marked:
            if not isnan(row[position]):
                return True
    return False


def _is_same(one: float, other: float) -> bool:
    return one == other or (isnan(one) and isnan(other))


def _number(value: float) -> float | None:
    return None if isnan(value) else value
