"""
Reduce the samples of a page to the columns that are kept.

A page of vLLM has a thousand lines. Of each page only one number per column and engine is kept.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial, reduce
from math import isnan, nan
from typing import TypeAlias

from reporter.scrape.columns import Column, Combine
from reporter.scrape.samples import COUNT_SUFFIX, PageSamples, ScrapedSeries


ENGINE_LABEL, PROCESS_LABEL = "engine", "pid"
"""
Labels of vLLM: the rank of a data-parallel engine, and the process of a server of several ones.
"""

POD_ROW = ""
"""
The row of samples without an engine label: of the HTTP server, and of a server with one engine.
"""

MAX_NAME_LENGTH = 32
"""The characters that are kept of an engine's name. vLLM's are whole numbers."""

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_.-]")

SeriesGroup: TypeAlias = tuple[tuple[str, str], ...]

Groups: TypeAlias = tuple[Combine, Sequence[Sequence[int]]]
"""The positions of the samples whose values are combined, and the groups of which the results are added up."""

RowPlan: TypeAlias = Sequence[int | Groups | None]
"""For each column where its number comes from: one sample, or several; None without any."""


def reduce_page(
    samples: PageSamples, columns: tuple[Column, ...]
) -> Mapping[str, Sequence[float]]:
    """Return one number per column for each row, by engine; NaN where the page has no family of it."""
    plans = samples.series.derive(columns, lambda series: _plan_rows(series, columns))
    values = samples.values
    return {row: [_number(source, values) for source in plan] for row, plan in plans.items()}


def _number(source: int | Groups | None, values: Sequence[float]) -> float:
    if source is None:
        return nan
    if isinstance(source, int):
        return 0.0 + values[source]
    combine, groups = source
    add = partial(_add, combine)
    return sum((reduce(add, [values[at] for at in group]) for group in groups), 0.0)


def _add(combine: Combine, before: float, value: float) -> float:
    if isnan(before):
        return value
    if combine in {Combine.COUNTER, Combine.SUM}:
        return before + value
    return before if isnan(value) else max(before, value)


# --------------------------------------------------------------------
# Which samples make the number of a column. It is the same for all pages with the same series.


def _plan_rows(
    series: Sequence[ScrapedSeries], columns: tuple[Column, ...]
) -> Mapping[str, RowPlan]:
    """Return the plan of each row, by engine."""
    by_name: dict[str, dict[str, list[int]]] = {}
    for at, (name, labels) in enumerate(series):
        row = _row_name(labels.get(ENGINE_LABEL, POD_ROW)[:MAX_NAME_LENGTH])
        by_name.setdefault(name, {}).setdefault(row, []).append(at)
    positions = [_find_series(names, by_name) for names in _names(columns)]
    rows = sorted(set().union(*positions))
    pairs = list(zip(columns, positions, strict=True))
    return {
        row: [
            None if (found := by_row.get(row)) is None else _source_of(column, series, found)
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


def _find_series(
    names: Sequence[str], by_name: Mapping[str, Mapping[str, Sequence[int]]]
) -> Mapping[str, Sequence[int]]:
    for name in names:
        if name in by_name:
            return by_name[name]
    return {}


def _source_of(
    column: Column, series: Sequence[ScrapedSeries], positions: Sequence[int]
) -> int | Groups:
    """Return the samples of a column in one row, of those of its family."""
    groups: dict[SeriesGroup, list[int]] = {}
    for at in positions:
        if _is_counted(column, series[at].labels):
            groups.setdefault(_group_of(column, series[at].labels), []).append(at)
    found = tuple(groups.values())
    is_one = len(found) == 1 and len(found[0]) == 1
    return found[0][0] if is_one else (column.combine, found)


@lru_cache(maxsize=256)
def _row_name(engine: str) -> str:
    """Return the value of an engine label in plain characters: it is kept, and named in Events."""
    return _NOT_PLAIN.sub("_", engine)


def _is_counted(column: Column, labels: Mapping[str, str]) -> bool:
    if column.among is not None and labels.get(column.among[0]) not in column.among[1]:
        return False
    return column.only is None or labels.get(column.only[0], "").startswith(column.only[1])


def _group_of(column: Column, labels: Mapping[str, str]) -> SeriesGroup:
    """
    Return the labels of a gauge that are not of a process; all series of others are one group.
    """
    if column.combine is not Combine.GAUGE:
        return ()
    return tuple(sorted(each for each in labels.items() if each[0] != PROCESS_LABEL))
