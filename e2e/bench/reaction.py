"""
Measure how long it takes from a change in the API until its Event can be read.

A Deployment is scaled to zero on a real control plane, with as many InferenceSets around it as asked
for. Time runs from sending that request until a watch that is open all the time brings the Event.
Beside it, in turn and on the same server: the floor, a bare client that watches Deployments and posts
an Event at once. All of it once while nothing else changes, and once under churn.
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
    log_progress,
    parser,
    run_program,
)
from e2e.bench.support.event_waiter import Latencies
from e2e.bench.trials import TrialLatencies
from e2e.support.arguments import natural


RATIO = 3.0
"""
The most that the median may be, as a multiple of the floor's.
"""

SLOWEST, SIZE_OF_SLOWEST = 0.25, 1_000
"""
Seconds that the 99th percentile may be, up to so many InferenceSets.
"""


def main() -> int:
    made = parser("reaction", __doc__, (100,))
    add_arguments(made)
    churn.add_arguments(made)
    return run_program(made.parse_args(), measure)


def add_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--trials", type=natural, default=30, help="of each; default: 30")


def measure(scene: BenchCluster, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with scene.running_reporter() as started:
        yield from measured(scene, started, arguments)


def measured(
    scene: BenchCluster, started: RunningReporter, arguments: argparse.Namespace
) -> Iterator[BenchRow]:
    """
    Of a process that runs already.
    """
    yield from _rows(scene, started, arguments.trials, 0)
    yield from _rows(scene, started, arguments.trials, arguments.rate)


def _rows(
    scene: BenchCluster, started: RunningReporter, number: int, rate: int
) -> Iterator[BenchRow]:
    how = "churn" if rate else "idle"
    before, begun = started.usage().cpu, time.monotonic()
    with contextlib.ExitStack() as stack:
        made = _nothing
        if rate:
            made = stack.enter_context(churning(scene.plane.client, scene.teams.count, rate))
        figures = asyncio.run(trials.measure(scene.plane, number))
        changes = made()
    took, cpu = time.monotonic() - begun, started.usage().cpu - before
    log_progress(f"{cpu:.1f} s of CPU in {took:.0f} s\n" + "\n".join(table.lines(figures)))
    note = f"{number} trials of each in turn" + (f", {changes / took:.0f} changes/s" * bool(rate))
    yield _median(figures, f"{scene.size:,} InferenceSets, {how}", note)
    yield _slowest(figures, scene.size, how, note)


def _nothing() -> int:
    return 0


def _median(figures: TrialLatencies, where: str, note: str) -> BenchRow:
    reporter, floor = (_seconds(each) for each in (figures.reporter, figures.floor))
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
        table.percentile(_seconds(each), 99) for each in (figures.reporter, figures.floor)
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
