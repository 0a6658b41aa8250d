"""
Measure how long it takes from a change in the API until its Event can be read.

A Deployment is scaled to zero on a real control plane, with as many InferenceSets around it as
asked for. Time runs from sending that request until a watch that is open all the time brings the
Event. Beside it, in turn and on the same server: the floor, a bare client that watches
Deployments and posts an Event at once.
"""

import argparse
import asyncio
import sys
from collections.abc import Iterator

from e2e import workload
from e2e.bench import machine, table, trials
from e2e.bench.arguments import natural
from e2e.controlplane import ControlPlane, assets
from e2e.reporter_process import ReporterProcess


GOAL = 3.0
"""
The most that the ratio of the medians may be.
"""

FLAGS = (
    "--settle-seconds=1",
    "--startup-grace-seconds=0",
    "--lease-duration-seconds=15",
    "--renew-deadline-seconds=10",
    "--retry-period-seconds=2",
)
"""
Each trial is an episode of its own, about objects that are young; the election as by default.
"""


def main() -> int:
    arguments = _arguments()
    try:
        assets.find()
    except assets.Missing as err:
        print(err, file=sys.stderr)
        return 1
    with ControlPlane(workload.BARE) as plane:
        objects = workload.write(plane, arguments.inferencesets)
        reporter = ReporterProcess(plane, *FLAGS).start()
        before = _processor_seconds(reporter)
        figures = asyncio.run(trials.measure(plane, arguments.trials))
        used = _processor_seconds(reporter) - before
        print("\n".join(machine.lines(plane)))
        print(f"cluster   {arguments.inferencesets} InferenceSets, {objects} objects")
        print(f"trials    {arguments.trials} of each in turn\n")
        print("\n".join(table.lines(figures)))
        print("\n".join(_costs(reporter, used)))
        reporter.stop()
    missed = table.ratio(figures) > GOAL
    if missed:
        print(f"\nthe median is more than {GOAL:g} times the floor's", file=sys.stderr)
    return int(missed and arguments.check)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--inferencesets", type=natural, default=100, help="default: 100")
    parser.add_argument("--trials", type=natural, default=30, help="of each; default: 30")
    parser.add_argument(
        "--check",
        action="store_true",
        help=f"exit with 1 when the median is more than {GOAL:g} times the floor's",
    )
    return parser.parse_args()


def _costs(reporter: ReporterProcess, used: float) -> Iterator[str]:
    memory = _of_process(reporter, "process_resident_memory_bytes") / 2**20
    yield f"{'resident memory':20}{memory:9.1f} MiB of the reporter"
    yield f"{'processor time':20}{used:9.2f} s of the reporter, in all trials together"


def _processor_seconds(reporter: ReporterProcess) -> float:
    return _of_process(reporter, "process_cpu_seconds_total")


def _of_process(reporter: ReporterProcess, name: str) -> float:
    """
    One of the metrics that every process has; not a number where the system does not tell.
    """
    found = (line.split() for line in reporter.metrics().splitlines())
    return next((float(words[1]) for words in found if words and words[0] == name), float("nan"))


if __name__ == "__main__":
    sys.exit(main())
