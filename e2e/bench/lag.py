"""
Measure for how long the event loop is held at a time: the lease, the watches and /livez wait then.

In three parts, each by the reporter's own metric: from its start to the first pass, while full passes
follow each other and nothing changes, and while the stack is changed all the time. Beside them, from
outside, how long /livez took to answer.
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
"""
Seconds that the loop may be held at a time.
"""

RESYNC_FLAG = "--resync-seconds=5"
"""
Six times as many full passes as by default.
"""

PAUSE = 0.05
"""
Seconds between two questions whether it is alive.
"""


def main() -> int:
    made = parser("lag", __doc__, (100, 1_000))
    add_arguments(made)
    churn.add_arguments(made)
    return run_program(made.parse_args(), measure)


def add_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--seconds", type=natural, default=60, help="of idling, and of churn; default: 60"
    )


def measure(scene: BenchCluster, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with scene.running_reporter(RESYNC_FLAG) as started:
        first = LoopLagHistogram.read(started.reporter)
        yield _row(scene, "start", first, "until it leads; /livez was not asked")
        yield _during(scene, started, "full passes", arguments.seconds)
        with churning(scene.plane.client, scene.teams.count, arguments.rate):
            how = f"churn of {arguments.rate} a second"
            yield _during(scene, started, how, arguments.seconds)


def _during(scene: BenchCluster, started: RunningReporter, how: str, seconds: int) -> BenchRow:
    reporter = started.reporter
    before, passes = (
        LoopLagHistogram.read(reporter),
        reporter.metric("pass_duration_seconds_count"),
    )
    cpu, end, slowest = started.usage().cpu, time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        time.sleep(PAUSE)
        slowest = max(slowest, _asked(reporter.health_port))
    holds = LoopLagHistogram.read(reporter).since(before)
    passes = reporter.metric("pass_duration_seconds_count") - passes
    cpu = started.usage().cpu - cpu
    note = f"{passes:.0f} passes and {cpu:.1f} s of CPU in {seconds} s"
    return _row(scene, how, holds, f"{note}; slowest /livez {slowest * 1000:.0f} ms")


def _row(scene: BenchCluster, how: str, holds: LoopLagHistogram, note: str) -> BenchRow:
    over = holds.count_over(GOAL)
    return BenchRow(
        f"longest hold of the loop, {scene.size:,} InferenceSets, {how}",
        f"≤ {GOAL * 1000:g} ms",
        f"{holds.longest}; {over} of {holds.count:,} are longer than {GOAL * 1000:g} ms",
        not over,
        note,
    )


def _asked(port: int) -> float:
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
