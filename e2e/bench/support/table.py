"""The latencies of trials as lines of text."""

import statistics
from collections.abc import Iterator, Sequence

from e2e.bench.support.latency_probe import percentile
from e2e.bench.trials import TrialLatencies


def ratio(figures: TrialLatencies) -> float:
    """Return the ratio of the reporter's median to the floor's."""
    reporter, floor = (
        [took.read for took in latencies] for latencies in (figures.reporter, figures.floor)
    )
    return statistics.median(reporter) / statistics.median(floor)


def lines(figures: TrialLatencies) -> Iterator[str]:
    yield f"{'milliseconds':20}{'least':>9}{'median':>9}{'99th':>9}{'most':>9}"
    both = [*figures.reporter, *figures.floor]
    yield _row("change answered", [took.answered for took in both])
    yield _row("floor", [took.read for took in figures.floor])
    yield _row("reporter", [took.read for took in figures.reporter])
    yield f"{'reporter / floor':29}{ratio(figures):9.2f}"


def _row(name: str, seconds: Sequence[float]) -> str:
    shown = (
        min(seconds),
        statistics.median(seconds),
        percentile(seconds, 99),
        max(seconds),
    )
    return f"{name:20}" + "".join(f"{value * 1000:9.1f}" for value in shown)
