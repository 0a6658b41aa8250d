"""
Measure how long the event loop is blocked at a time: Lease, watches and /livez wait meanwhile.

The reporter's own metric is read for three phases: from the start to the first pass, during frequent
full passes without changes, and during churn. The latency of /livez is measured from outside.
"""

import argparse
import http.client
import sys
import time
from collections.abc import Iterator

from e2e.bench import churn
from e2e.bench.churn import churning
from e2e.bench.rows import BenchRow
from e2e.bench.support.bench_cluster import BenchCluster, RunningReporter, parser, run_program
from e2e.bench.support.loop_lag import LoopLagHistogram
from e2e.support.arguments import natural


GOAL = 0.05
"""Seconds that the loop may be blocked at a time."""

RESYNC_FLAG = "--resync-seconds=5"
"""Six times as many full passes as with the default."""

PAUSE = 0.05
"""Seconds between two requests of /livez."""


def main() -> int:
    argument_parser = parser("lag", __doc__, (100, 1_000))
    add_arguments(argument_parser)
    churn.add_arguments(argument_parser)
    return run_program(argument_parser.parse_args(), measure)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seconds",
        type=natural,
        default=60,
        help="length of the second and third phase; default: 60",
    )


def measure(cluster: BenchCluster, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with cluster.running_reporter(RESYNC_FLAG) as started:
        first = LoopLagHistogram.read(started.reporter)
        yield _row(cluster, "start", first, "until it leads; /livez was not asked")
        yield _during(cluster, started, "full passes", arguments.seconds)
        with churning(cluster.plane.client, cluster.teams.count, arguments.rate):
            how = f"churn of {arguments.rate} a second"
            yield _during(cluster, started, how, arguments.seconds)


def _during(cluster: BenchCluster, started: RunningReporter, how: str, seconds: int) -> BenchRow:
    reporter = started.reporter
    before, passes = (
        LoopLagHistogram.read(reporter),
        reporter.metric("pass_duration_seconds_count"),
    )
    cpu, end, slowest = started.usage().cpu, time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        time.sleep(PAUSE)
        slowest = max(slowest, _livez_seconds(reporter.health_port))
    holds = LoopLagHistogram.read(reporter).since(before)
    passes = reporter.metric("pass_duration_seconds_count") - passes
    cpu = started.usage().cpu - cpu
    note = f"{passes:.0f} passes and {cpu:.1f} s of CPU in {seconds} s"
    return _row(cluster, how, holds, f"{note}; slowest /livez {slowest * 1000:.0f} ms")


def _row(cluster: BenchCluster, how: str, holds: LoopLagHistogram, note: str) -> BenchRow:
    over = holds.count_over(GOAL)
    return BenchRow(
        f"longest hold of the loop, {cluster.size:,} InferenceSets, {how}",
        f"≤ {GOAL * 1000:g} ms",
        f"{holds.longest}; {over} of {holds.count:,} are longer than {GOAL * 1000:g} ms",
        not over,
        note,
    )


def _livez_seconds(port: int) -> float:
    begun = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/livez")
        connection.getresponse().read()
    finally:
        connection.close()
    return time.monotonic() - begun


if __name__ == "__main__":
    sys.exit(main())
