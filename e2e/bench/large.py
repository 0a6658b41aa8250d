"""
Measure everything that needs a live stack, on one stack that grows to each size in turn.

At each size: start, memory at rest, reaction and one reading by the command status. At the largest
size also: start with an API server that has just started, loop lag, failover, memory under churn and
after a mass deletion. Each is also a program of its own: reaction, start, one_shot, lag, failover,
memory.
"""

import argparse
import sys
from collections.abc import Iterator

from e2e.bench import churn, failover, lag, memory, one_shot, reaction, start
from e2e.bench.rows import BenchRow
from e2e.bench.support.bench_cluster import BenchCluster, parser, run_program


SIZES = (10, 1_000, 10_000)


def main() -> int:
    argument_parser = parser("large", __doc__, SIZES)
    for module in (churn, reaction, lag, failover, memory):
        module.add_arguments(argument_parser)
    return run_program(argument_parser.parse_args(), _measure)


def _measure(cluster: BenchCluster, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with cluster.running_reporter() as started:
        yield memory.at_rest(cluster, started)
        yield from reaction.measured(cluster, started, arguments)
    yield start.warm(cluster)
    yield from one_shot.measure(cluster, arguments)
    if cluster.size >= max(arguments.inferencesets):
        yield start.cold(cluster)
        yield from lag.measure(cluster, arguments)
        yield from failover.measure(cluster, arguments)
        yield from memory.at_the_largest(cluster, arguments)


if __name__ == "__main__":
    sys.exit(main())
