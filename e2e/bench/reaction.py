"""
Measure the time from a change in the API until its Event can be read.

A Deployment is scaled to zero on a real control plane with the given number of InferenceSets. The
time is measured from sending this request until an open watch receives the Event. In turn with it,
the floor is measured: a plain client that watches Deployments and creates an Event at once. All is
measured once without other changes, and once under churn.
"""

import argparse
import asyncio
import contextlib
import statistics
import sys
import time
from collections.abc import Iterator, Sequence

from e2e.bench import churn, trials
from e2e.bench.churn import churning
from e2e.bench.rows import BenchRow
from e2e.bench.support import table
from e2e.bench.support.bench_cluster import (
    BenchCluster,
    RunningReporter,
    parser,
    run_program,
)
from e2e.bench.support.event_waiter import Latencies
from e2e.bench.support.latency_probe import percentile
from e2e.bench.support.program import log_progress
from e2e.bench.trials import TrialLatencies
from e2e.support.arguments import natural


RATIO = 1.5
"""Maximum ratio of the median to the floor's median."""

SLOWEST, SIZE_OF_SLOWEST = 0.1, 10_000
"""Maximum seconds of the 99th percentile, up to this many InferenceSets."""


def main() -> int:
    argument_parser = parser("reaction", __doc__, (100,))
    add_arguments(argument_parser)
    churn.add_arguments(argument_parser)
    return run_program(argument_parser.parse_args(), measure)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trials",
        type=natural,
        default=30,
        help="trials of the reporter and of the floor; default: 30",
    )


def measure(cluster: BenchCluster, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with cluster.running_reporter() as started:
        yield from measured(cluster, started, arguments)


def measured(
    cluster: BenchCluster, started: RunningReporter, arguments: argparse.Namespace
) -> Iterator[BenchRow]:
    """Measure a reporter that runs already."""
    yield from _rows(cluster, started, arguments.trials, 0)
    yield from _rows(cluster, started, arguments.trials, arguments.rate)


def _rows(
    cluster: BenchCluster, started: RunningReporter, number: int, rate: int
) -> Iterator[BenchRow]:
    how = "churn" if rate else "idle"
    before, begun = started.usage().cpu, time.monotonic()
    with contextlib.ExitStack() as stack:
        change_count = _no_changes
        if rate:
            change_count = stack.enter_context(
                churning(cluster.plane.client, cluster.teams.count, rate)
            )
        figures = asyncio.run(trials.measure(cluster.plane, number))
        changes = change_count()
    took, cpu = time.monotonic() - begun, started.usage().cpu - before
    log_progress(f"{cpu:.1f} s of CPU in {took:.0f} s\n" + "\n".join(table.lines(figures)))
    note = f"{number} trials of each in turn" + (f", {changes / took:.0f} changes/s" * bool(rate))
    yield _median(figures, f"{cluster.size:,} InferenceSets, {how}", note)
    yield _slowest(figures, cluster.size, how, note)


def _no_changes() -> int:
    return 0


def _median(figures: TrialLatencies, where: str, note: str) -> BenchRow:
    reporter, floor = (_seconds(latencies) for latencies in (figures.reporter, figures.floor))
    ratio = table.ratio(figures)
    return BenchRow(
        f"change → Event readable, median, {where}",
        f"≤ {RATIO:g} × the floor",
        f"{ratio:.2f} × ({_ms(statistics.median(reporter))},"
        f" floor {_ms(statistics.median(floor))})",
        ratio <= RATIO,
        note,
    )


def _slowest(figures: TrialLatencies, size: int, how: str, note: str) -> BenchRow:
    goal = size <= SIZE_OF_SLOWEST
    reporter, floor = (
        percentile(_seconds(latencies), 99) for latencies in (figures.reporter, figures.floor)
    )
    return BenchRow(
        f"change → Event readable, 99th percentile, {size:,} InferenceSets, {how}",
        f"≤ {SLOWEST * 1000:g} ms" if goal else "",
        f"{_ms(reporter)} (floor {_ms(floor)})",
        reporter <= SLOWEST if goal else None,
        note,
    )


def _seconds(taken: Sequence[Latencies]) -> list[float]:
    return [took.read for took in taken]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
