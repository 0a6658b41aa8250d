"""The bounded history of a pod's engines."""

from datetime import timedelta

import pytest

from reporter.scrape.columns import Column, Combine
from reporter.scrape.engine_recorder import MAX_ENGINES, EngineRecorder
from reporter.scrape.samples import (
    ContainerRun,
    PageSamples,
    Sample,
    ScrapedMetrics,
    ScrapeHistory,
)
from reporter.scrape.spans import MAX_ROWS, Span
from tests.support.builders import NOON


STEPS = Column(("steps",), Combine.COUNTER)
RECORDER = EngineRecorder((STEPS,), (Span.of(120),), timedelta(seconds=40))


def kept(*pages: tuple[float, float], recorder: EngineRecorder = RECORDER):
    """Return what is kept of pages: seconds after noon, and the number of steps."""
    history = ScrapeHistory(ContainerRun("uid-1", 0))
    for at, steps in pages:
        sample = Sample("steps", {"engine": "0"}, steps)
        history = recorder(
            history,
            ScrapedMetrics(NOON + timedelta(seconds=at), PageSamples.from_samples([sample])),
        )
    assert history.engines is not None
    return history.engines


@pytest.mark.parametrize("every", [0.1, 1, 5, 15, 40])
def test_rows_are_bounded_and_fill_the_window(every):
    found = kept(*((n * every, n) for n in range(int(1000 / every))))
    times = found.by_engine["0"].times
    assert len(times) <= MAX_ROWS + 3
    assert times[-1] == pytest.approx(found.observed)
    assert times[-1] - times[0] >= 120


def test_engines_are_bounded():
    samples = PageSamples.from_samples(Sample("steps", {"engine": str(n)}, n) for n in range(1000))
    history = RECORDER(ScrapeHistory(ContainerRun("uid-1", 0)), ScrapedMetrics(NOON, samples))
    assert history.engines is not None
    assert len(history.engines.by_engine) == MAX_ENGINES
    assert history.engines.left_out == 1000 - MAX_ENGINES


def test_gaps_and_jumps_of_the_clock_are_not_observed():
    assert kept((0, 1), (15, 1), (3600, 1), (3615, 1), (0, 1), (15, 1)).observed == 45


def test_the_time_of_the_last_change_is_kept_beyond_the_window():
    series = kept((0, 1), (15, 2), *((30 + n * 15, 2) for n in range(100))).by_engine["0"]
    assert (series.first_at, series.changed_at[0], series.positive_since[0]) == (0, 15, 0)
    assert series.times[0] > 15


def test_a_counter_that_falls_begins_anew():
    series = kept((0, 9), (15, 9), (30, 1), (45, 1)).by_engine["0"]
    assert (series.times, series.first_at, series.changed_at[0]) == ((30, 45), 30, 30)


def test_recorders_of_several_probes_are_merged():
    other = EngineRecorder(
        (STEPS, Column(("n",), Combine.GAUGE)), (Span.of(300),), timedelta(seconds=9)
    )
    merged = RECORDER.merged(other)
    assert merged.columns == other.columns
    assert (merged.spans, merged.max_gap.seconds) == ((Span.of(300), Span.of(120)), 40)
