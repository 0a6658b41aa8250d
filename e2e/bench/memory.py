"""
Measure the memory of the reporter: at each size, under churn, and after a mass deletion.

At the largest size the stack changes for some minutes, in which memory must not grow. Then all teams
but one are deleted, and the memory of their objects must be released.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Iterator

from e2e.bench import churn
from e2e.bench.churn import churning
from e2e.bench.rows import BenchRow
from e2e.bench.support.bench_cluster import (
    BenchCluster,
    RunningReporter,
    parser,
    run_program,
)
from e2e.bench.support.program import log_progress


GOALS = {1_000: 70, 10_000: 190}
"""MiB by the maximum number of InferenceSets."""

SAMPLE_SECONDS = 5.0
"""Seconds between two samples of the memory."""

GROWTH = 0.03
"""Share by which memory may grow during the churn and still be called flat."""

RETURNED = 0.5
"""Minimum share of the objects' memory that must be released."""

MIN_MEASURABLE_MIB = 10.0
"""MiB; a smaller memory of the objects is too small to measure its release."""

RELEASE_SECONDS = 150.0
"""Seconds for the memory to be released: the heap is trimmed once a minute."""


def main() -> int:
    argument_parser = parser("memory", __doc__, (100, 1_000))
    add_arguments(argument_parser)
    churn.add_arguments(argument_parser)
    return run_program(argument_parser.parse_args(), measure)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--minutes",
        type=int,
        default=20,
        help="minutes of churn before the mass deletion; 0: neither of them; default: 20",
    )


def measure(cluster: BenchCluster, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with cluster.running_reporter() as started:
        yield at_rest(cluster, started)
    if cluster.size >= max(arguments.inferencesets):
        yield from at_the_largest(cluster, arguments)


def at_the_largest(cluster: BenchCluster, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    """Yield the figures that come last, as little of the stack is left afterwards."""
    if arguments.minutes <= 0:
        return
    with cluster.running_reporter() as started:
        yield under_churn(cluster, started, minutes=arguments.minutes, rate=arguments.rate)
        yield after_deletion(cluster, started)


def at_rest(cluster: BenchCluster, started: RunningReporter) -> BenchRow:
    """Measure the memory after the first pass and the trimming of the heap."""
    time.sleep(SAMPLE_SECONDS)
    used = started.usage()
    goal = next((mib for size, mib in GOALS.items() if cluster.size <= size), None)
    return BenchRow(
        f"memory, {cluster.size:,} InferenceSets",
        f"≤ {goal} MiB" if goal else "",
        f"{used.memory:.0f} MiB (at most {used.peak:.0f} MiB)",
        used.memory <= goal if goal else None,
        "resident, after the start; in brackets the most of it during the start",
    )


def under_churn(
    cluster: BenchCluster, started: RunningReporter, *, minutes: int, rate: int
) -> BenchRow:
    """
    Compare the second quarter of the time with the last; in the first quarter memory settles.
    """
    samples: list[float] = []
    end = time.monotonic() + minutes * 60
    with churning(cluster.plane.client, cluster.teams.count, rate) as count:
        while time.monotonic() < end:
            time.sleep(SAMPLE_SECONDS)
            samples.append(started.usage().memory)
            if not len(samples) % 12:
                log_progress(f"{samples[-1]:.0f} MiB after {count()} changes")
        changes = count()
    quarter = len(samples) // 4
    early, late = (
        statistics.mean(samples[at:][:quarter]) for at in (quarter, len(samples) - quarter)
    )
    return BenchRow(
        f"memory under churn, {cluster.size:,} InferenceSets",
        f"flat: ± {GROWTH:.0%}",
        f"{early:.1f} MiB early, {late:.1f} MiB late",
        late <= early * (1 + GROWTH),
        f"{changes:,} changes in {minutes} min; second quarter beside the last",
    )


def after_deletion(cluster: BenchCluster, started: RunningReporter) -> BenchRow:
    before, size = started.usage().memory, cluster.size
    cluster.teams.shrink(0)
    begun = time.monotonic()
    with cluster.running_reporter(name="other", follows=True) as fresh:
        fresh_memory = fresh.usage().memory
    took = before - fresh_memory
    until = time.monotonic() + (RELEASE_SECONDS if took > MIN_MEASURABLE_MIB else SAMPLE_SECONDS)
    after, share = before, 0.0
    while share < RETURNED and time.monotonic() < until:
        time.sleep(SAMPLE_SECONDS)
        after = started.usage().memory
        share = (before - after) / took if took > MIN_MEASURABLE_MIB else 0.0
    return BenchRow(
        f"memory after a mass deletion, {size:,} → {cluster.size:,} InferenceSets",
        f"≥ {RETURNED:.0%} of what the objects took is given back",
        f"{before:.0f} → {after:.0f} MiB, {share:.0%}",
        share >= RETURNED if took > MIN_MEASURABLE_MIB else None,
        f"after {(time.monotonic() - begun) / 60:.1f} min;"
        f" a process that is started then has {fresh_memory:.0f} MiB",
    )


if __name__ == "__main__":
    sys.exit(main())
