"""
Reduce the samples of a page to the columns that are kept.

A page of vLLM has a thousand lines. Of each page only one number per column and engine is kept.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import isnan, nan
from typing import TypeAlias

from reporter.scrape.columns import Column, Combine
from reporter.scrape.samples import Sample


ENGINE_LABEL, PROCESS_LABEL = "engine", "pid"
"""
Labels of vLLM: the rank of a data-parallel engine, and the process of a server of several ones.
"""

POD_ROW = ""
"""
The row of samples without an engine label: of the HTTP server, and of a server with one engine.
"""

COUNT_SUFFIX = "_count"
"""The suffix of the one sample that is kept of a histogram: how many values it has observed."""

MAX_NAME_LENGTH = 32
"""The characters that are kept of an engine's name. vLLM's are whole numbers."""

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_.-]")

SamplesByRow: TypeAlias = Mapping[str, list[Sample]]
SeriesGroup: TypeAlias = tuple[tuple[str, str], ...]


def reduce_page(
    samples: Iterable[Sample], columns: tuple[Column, ...]
) -> Mapping[str, Sequence[float]]:
    """Return one number per column for each row, by engine; NaN where the page has no family of it."""
    by_name: dict[str, dict[str, list[Sample]]] = {}
    for sample in samples:
        row = _row_name(sample.labels.get(ENGINE_LABEL, POD_ROW)[:MAX_NAME_LENGTH])
        by_name.setdefault(sample.name, {}).setdefault(row, []).append(sample)
    series = [_find_series(names, by_name) for names in _names(columns)]
    rows = sorted(set().union(*series))
    pairs = list(zip(columns, series, strict=True))
    return {
        row: [
            nan if (found := by_row.get(row)) is None else _number(column, found)
            for column, by_row in pairs
        ]
        for row in rows
    }


@lru_cache(maxsize=64)
def _names(columns: tuple[Column, ...]) -> Sequence[Sequence[str]]:
    """Return for each column the names of its samples, those of the first alternative first."""
    return [
        [name for family in column.families for name in (family, f"{family}{COUNT_SUFFIX}")]
        for column in columns
    ]


def _find_series(names: Sequence[str], by_name: Mapping[str, SamplesByRow]) -> SamplesByRow:
    for name in names:
        if name in by_name:
            return by_name[name]
    return {}


def _number(column: Column, series: Sequence[Sample]) -> float:
    """Return the number of a column in one row, of the *series* of its family."""
    if column.only is not None or column.among is not None:
        series = [sample for sample in series if _is_counted(column, sample)]
    if len(series) == 1:
        return 0.0 + series[0].value
    groups: dict[SeriesGroup, float] = {}
    for sample in series:
        group = _group_of(column, sample)
        groups[group] = _add(column.combine, groups.get(group), sample.value)
    return sum(groups.values(), 0.0)


@lru_cache(maxsize=256)
def _row_name(engine: str) -> str:
    """Return the value of an engine label in plain characters: it is kept, and named in Events."""
    return _NOT_PLAIN.sub("_", engine)


def _is_counted(column: Column, sample: Sample) -> bool:
    if column.among is not None and sample.labels.get(column.among[0]) not in column.among[1]:
        return False
    return column.only is None or sample.labels.get(column.only[0], "").startswith(column.only[1])


def _group_of(column: Column, sample: Sample) -> SeriesGroup:
    """
    Return the labels of a gauge that are not of a process; all series of others are one group.
    """
    if column.combine is not Combine.GAUGE:
        return ()
    return tuple(sorted(each for each in sample.labels.items() if each[0] != PROCESS_LABEL))


def _add(combine: Combine, before: float | None, value: float) -> float:
    if before is None or isnan(before):
        return value
    if combine in {Combine.COUNTER, Combine.SUM}:
        return before + value
    return before if isnan(value) else max(before, value)
