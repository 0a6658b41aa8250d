"""Keep a few numbers of each page of a model server, bounded however long the pod runs."""

from array import array
from collections.abc import Sequence
from datetime import timedelta
from math import isnan, nan
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reporter.scrape.columns import Column, Combine
from reporter.scrape.page_rows import reduce_page
from reporter.scrape.readings import EngineReadings, EngineSeries
from reporter.scrape.samples import ScrapedMetrics, ScrapeHistory
from reporter.scrape.spans import Span, find_kept, join_spans


MAX_ENGINES = 64
"""
The engines of a page that are kept, by the order of their labels. vLLM runs at most one per GPU.
"""


KeptByTimes: TypeAlias = dict[tuple[float, ...], tuple[tuple[float, ...], Sequence[int]]]
"""
The times and the positions of the rows that are kept, by the times before a page, which the engines
of a pod mostly share.
"""


class EngineRecorder(Struct, frozen=True):
    """
    Adds the pages of model servers to the histories of their pods.

    *spans*: the rows that readers need. *max_gap*: the longest distance of two pages between which the
    pod counts as observed.
    """

    columns: tuple[Column, ...]
    spans: tuple[Span, ...]
    max_gap: timedelta

    def __call__(self, history: ScrapeHistory, scrape: ScrapedMetrics) -> ScrapeHistory:
        """Return the history of a pod with one more page, of at most MAX_ENGINES engines."""
        before = history.engines or EngineReadings(self.columns)
        observed = before.observed + self._observed_since(before, scrape)
        rows = list(reduce_page(scrape.samples, self.columns).items())
        kept: KeptByTimes = {}
        by_engine = {
            engine: self._add_row(
                before.by_engine.get(engine), array("d", row), kept, now=observed
            )
            for engine, row in rows[:MAX_ENGINES]
        }
        left_out = len(rows) - len(by_engine)
        gap = scrape.longest_gap(self.max_gap).total_seconds()
        readings = EngineReadings(
            self.columns, scrape.scraped_at, observed, by_engine, left_out, gap
        )
        return replace(history, engines=readings, last_failure=None)

    def merged(self, other: "EngineRecorder") -> "EngineRecorder":
        """Return the recorder whose histories serve the readers of both."""
        more = tuple(each for each in other.columns if each not in self.columns)
        return EngineRecorder(
            (*self.columns, *more),
            join_spans((*self.spans, *other.spans)),
            max(self.max_gap, other.max_gap),
        )

    def _observed_since(self, before: EngineReadings, scrape: ScrapedMetrics) -> float:
        if before.read_at is None:
            return 0.0
        passed = scrape.scraped_at - before.read_at
        return (
            passed.total_seconds()
            if timedelta(0) < passed <= scrape.longest_gap(self.max_gap)
            else 0.0
        )

    def _add_row(
        self, before: EngineSeries | None, row: "array[float]", kept: KeptByTimes, *, now: float
    ) -> EngineSeries:
        if before is None:
            return _first_row(row, now=now)
        last, changed_at, positive = before.rows[-1], before.changed_at, before.positive_since
        # An idle engine repeats its numbers, and what is known of them.
        if row.tobytes() != last.tobytes():
            changed_at, positive = changed_at[:], positive[:]
            for at in _changed(last, row):
                old, new = last[at], row[at]
                if new < old and self.columns[at].combine is Combine.COUNTER:
                    # The numbers before are of another process.
                    return _first_row(row, now=now)
                changed_at[at] = now
                if not new > 0:
                    positive[at] = nan
                elif isnan(positive[at]):
                    positive[at] = now
        found = kept.get(before.times)
        if found is None:
            found = kept[before.times] = self._keep((*before.times, now))
        times, positions = found
        rows = (*before.rows, row)
        if len(positions) < len(rows):
            oldest = positions[0]
            # Mostly only the oldest ones are left out.
            is_end = oldest + len(positions) == len(rows)
            rows = rows[oldest:] if is_end else tuple([rows[i] for i in positions])
        return EngineSeries(times, rows, before.first_at, changed_at, positive)

    def _keep(self, times: tuple[float, ...]) -> tuple[tuple[float, ...], Sequence[int]]:
        positions = find_kept(times, self.spans)
        return tuple([times[i] for i in positions]), positions


def _first_row(row: "array[float]", *, now: float) -> EngineSeries:
    positive = array("d", (now if value > 0 else nan for value in row))
    return EngineSeries((now,), (row,), now, array("d", [now] * len(row)), positive)


def _changed(before: "array[float]", row: "array[float]") -> Sequence[int]:
    """Return the positions of other numbers than before; NaN stays the same."""
    pairs = enumerate(zip(before, row, strict=True))
    return [at for at, (old, new) in pairs if old != new and not (isnan(old) and isnan(new))]
