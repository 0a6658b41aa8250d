"""
Measure an outage that hits every InferenceSet at once, and its end.

There are two outages. provisioner: the node provisioner is down, and every Workspace reports that it
gets no nodes. independent: no upstream is out, and every InferenceSet has a finding of its own. In
the middle of each, a finding of the cluster and one of a harness begin, which must be announced
first.
"""

import argparse
import asyncio
import sys
from collections.abc import Iterator

from e2e.bench.load.deployments import NODE_PROVISIONER, node_provisioner
from e2e.bench.load.outages import OUTAGES
from e2e.bench.load.teams import MODELS, BenchTeams
from e2e.bench.outage_rows import OutageMeasurement
from e2e.bench.rows import BenchRow
from e2e.bench.support import program
from e2e.bench.support.plain_client import PlainClient
from e2e.controlplane import ControlPlane
from e2e.support import machine
from e2e.support.production_stack import workload
from e2e.support.reporter_process import ReporterProcess


FLAGS = (
    "--scrape=loading",  # the copied Ready pods have no page
    f"--node-provisioner-namespace={NODE_PROVISIONER.namespace}",
    f"--node-provisioner-name={NODE_PROVISIONER.name}",
    "--startup-grace-seconds=0",
    "--lease-duration-seconds=15",
    "--renew-deadline-seconds=10",
    "--retry-period-seconds=2",
)
START_TIMEOUT = 300
"""Seconds for the reporter to become ready."""


def main() -> int:
    parser = program.parser(
        "storm",
        __doc__,
        ("inferencesets", 1_000, "size of the stack"),
        ("of-a-team", MODELS, "InferenceSets in a namespace; more than 10 share an Event"),
    )
    parser.add_argument(
        "--outages",
        nargs="+",
        choices=OUTAGES,
        default=list(OUTAGES),
        help="outages to measure; default: all",
    )
    return program.run(parser.parse_args(), _rows)


def _rows(arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with ControlPlane(workload.MINIMAL_OPTIONS) as plane:
        objects = _fill(plane, arguments.inferencesets, arguments.of_a_team)
        print("\n".join(machine.lines(plane)))
        sets = f"{arguments.inferencesets:,} InferenceSets, {arguments.of_a_team} a namespace"
        print(f"cluster   {sets}, {objects:,} objects\n", flush=True)
        reporter = ReporterProcess(plane, *FLAGS).start(ready=False)
        reporter.until_ready(within=START_TIMEOUT)
        reporter.until_leading()
        yield from asyncio.run(_measure(plane, reporter, arguments))
        reporter.stop()


def _fill(plane: ControlPlane, many: int, of_a_team: int) -> int:
    if of_a_team == MODELS:
        teams = BenchTeams(plane)
        teams.grow(many)
        objects = teams.objects()
    else:
        objects = workload.write_all(plane, workload.manifests(many, of_a_team=of_a_team))
    return objects + workload.write_all(plane, node_provisioner())


async def _measure(
    plane: ControlPlane, reporter: ReporterProcess, arguments: argparse.Namespace
) -> list[BenchRow]:
    found = []
    async with PlainClient(plane) as session, asyncio.TaskGroup() as group:
        storm = OutageMeasurement(plane, reporter, session, arguments)
        background = [group.create_task(task) for task in storm.background_tasks()]
        await storm.recorder.opened.wait()
        for name in arguments.outages:
            async for row in storm.rows(OUTAGES[name]):
                program.log_progress(f"measured {row.name}: {row.figure}")
                found.append(row)
        for task in background:
            task.cancel()
    return found


if __name__ == "__main__":
    sys.exit(main())
