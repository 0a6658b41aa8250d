"""
Measure the time from the reporter's start to its first full pass, and its memory then.

It is measured once with an API server that has served the same lists before, and once with one that
has just started and must read everything from etcd. The floor of each is a plain client that reads
the same lists from the same server in the same state.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator

from e2e.bench.rows import BenchRow
from e2e.bench.support import bare_list
from e2e.bench.support.bench_cluster import BenchCluster, RunningReporter, parser, run_program


GOAL, RATIO_GOAL, SIZE_OF_RATIO = 10.0, 1.5, 10_000
"""
Maximum seconds to the first full pass; and at this size, where lists take most of it, its maximum ratio
to the floor.
"""

STARTS = 3
"""Warm starts, and readings of the floor, of which the row shows the median."""


def main() -> int:
    return run_program(parser("start", __doc__, (100, 1_000)).parse_args(), measure)


def measure(cluster: BenchCluster, _: argparse.Namespace) -> Iterator[BenchRow]:
    yield warm(cluster)
    yield cold(cluster)


def warm(cluster: BenchCluster) -> BenchRow:
    """Measure several starts, as single ones vary by half, and show their median."""
    with cluster.running_reporter():
        pass  # the API server has then served all lists once
    starts, floors = [], []
    for _ in range(STARTS):
        floors.append(bare_list.seconds(cluster.plane))
        with cluster.running_reporter() as started:
            starts.append(started)
    starts.sort(key=lambda each: each.took)
    middle = starts[STARTS // 2]
    took = ", ".join(f"{each.took:.1f}" for each in starts)
    floor = statistics.median(floors)
    return row(cluster, middle, "warm", floor, f"; the median of {STARTS} starts: {took} s")


def cold(cluster: BenchCluster) -> BenchRow:
    _restart(cluster)
    floor = bare_list.seconds(cluster.plane)
    _restart(cluster)
    with cluster.running_reporter() as started:
        return row(cluster, started, "API server just started", floor)


def _restart(cluster: BenchCluster) -> None:
    cluster.plane.stop_api_server()
    cluster.plane.start_api_server()


def row(
    cluster: BenchCluster, started: RunningReporter, how: str, floor: float, more: str = ""
) -> BenchRow:
    goal, met = f"≤ {GOAL:g} s", started.took <= GOAL
    if cluster.size >= SIZE_OF_RATIO:
        goal = f"≤ {RATIO_GOAL:g} × the floor"
        met = started.took <= RATIO_GOAL * floor
    return BenchRow(
        f"start to first full pass, {cluster.size:,} InferenceSets, {how}",
        goal,
        f"{started.took:.1f} s",
        met,
        f"floor {floor:.1f} s: the lists alone, by a bare client;"
        f" {started.cost.cpu:.1f} s of CPU, {started.cost.peak:.0f} MiB at most until then{more}",
    )


if __name__ == "__main__":
    sys.exit(main())
