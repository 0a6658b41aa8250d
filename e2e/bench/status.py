"""
Measure what the status costs: the second look while many wait and while none does, and the status
objects of users.

Looks and writes are counted from the audit log.
"""

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from e2e.bench.load.bulk_change import BulkChange
from e2e.bench.load.teams import BenchTeams, team
from e2e.bench.rows import BenchRow
from e2e.bench.support import program
from e2e.bench.support.status_cost import StatusCost, StatusCostMeter
from e2e.controlplane import ControlPlane, Json, until
from e2e.support import machine, status_objects
from e2e.support.production_stack import workload
from e2e.support.reporter_process import ReporterProcess
from tests.support.status_objects import STATUSES


READS_PER_MINUTE = 30
"""The budget of the second look."""

WRITES_PER_SECOND, BURST = 2, 20
"""The token bucket of status objects."""

RENEWAL_SECONDS = 300
"""Time between two writes of the time of evaluation of a status object, of at most 600 objects."""

FIRST_SLACK = 30
"""
Seconds, beside those of the token bucket, within which all objects have a status: a new one waits
for five seconds more.
"""

FLAGS = ("--scrape=off",)
CALM_SECONDS = 60
"""Seconds after a start or a change in which memory and processor time are not yet steady."""

START_TIMEOUT = 300
INFERENCE_SETS_KEY = "/registry/kaito.sh/inferencesets/"


def main() -> int:
    parser = program.parser(
        "status",
        __doc__,
        ("inferencesets", 1_000, "size of the stack, and InferenceSets that wait"),
        ("objects", 600, "status objects"),
        ("seconds", 180, "length of each measurement"),
        ("calm", CALM_SECONDS, "seconds before a measurement of what is steady"),
    )
    return program.run(parser.parse_args(), _rows)


def _rows(arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with ControlPlane(replace(workload.MINIMAL_OPTIONS, audit=True)) as plane:
        teams = BenchTeams(plane)
        teams.grow(arguments.inferencesets)
        print("\n".join(machine.lines(plane)))
        print(f"cluster   {teams.inference_sets:,} InferenceSets\n", flush=True)
        yield from _measure(plane, teams, arguments)


def _measure(
    plane: ControlPlane, teams: BenchTeams, arguments: argparse.Namespace
) -> Iterator[BenchRow]:
    with _running(plane, *FLAGS) as reporter:
        yield from _second_look_rows(plane, reporter, arguments)
    with (
        status_objects.installed_crd(plane),
        _running(plane, *FLAGS, "--status-objects") as reporter,
    ):
        until(
            lambda: reporter.metric("watch_up", kind=STATUSES),
            within=START_TIMEOUT,
            what="status objects are watched",
        )
        yield from _object_rows(plane, teams, reporter, arguments)


@contextlib.contextmanager
def _running(plane: ControlPlane, *flags: str) -> Iterator[ReporterProcess]:
    """Run a reporter that leads."""
    reporter = ReporterProcess(plane, *flags)
    try:
        reporter.start(ready=False)
        reporter.until_ready(within=START_TIMEOUT)
        reporter.until_leading()
        yield reporter
    finally:
        reporter.stop()


# ---------------------------------------------------------------- the second look


def _second_look_rows(
    plane: ControlPlane, reporter: ReporterProcess, arguments: argparse.Namespace
) -> Iterator[BenchRow]:
    meter, seconds = StatusCostMeter(plane, reporter), arguments.seconds
    _until_waiting(reporter, 0)
    time.sleep(arguments.calm)
    idle = meter.measure(seconds)
    change = BulkChange(plane, INFERENCE_SETS_KEY, _made_young_and_scaled_up)
    name = f"second look, {change.objects:,} healthy"
    note = f"audit log, in {seconds} s"
    looks = len(idle.looks)
    yield BenchRow(f"{name}: reads", "0", f"{looks}", looks == 0, note)
    change.write_first_half()
    change.write_second_half()
    _until_waiting(reporter, change.objects)
    waiting = meter.measure(seconds)
    yield from _waiting_rows(f"second look, {change.objects:,} wait", waiting, idle, note)
    change.undo()
    _until_waiting(reporter, 0)
    time.sleep(arguments.calm)
    after = len(meter.measure(seconds).looks)
    yield BenchRow(f"{name} again: reads", "0", f"{after}", after == 0, note)


def _waiting_rows(
    name: str, waiting: StatusCost, idle: StatusCost, note: str
) -> Iterator[BenchRow]:
    most = waiting.looks_in_busiest_minute()
    yield BenchRow(
        f"{name}: reads in the busiest minute",
        f"1 to {READS_PER_MINUTE}",
        f"{most}",
        1 <= most <= READS_PER_MINUTE,
        note,
    )
    yield BenchRow(
        f"{name}: CPU a minute", "", f"{waiting.cpu:.2f} s", note=f"healthy {idle.cpu:.2f} s"
    )
    yield BenchRow(
        f"{name}: memory", "", f"{waiting.memory:.0f} MiB", note=f"healthy {idle.memory:.0f} MiB"
    )


def _until_waiting(reporter: ReporterProcess, many: int) -> None:
    def waiting() -> bool:
        try:
            found = reporter.metric("rollup_inferencesets", state="in_progress")
        except LookupError:  # before the first pass
            return False
        return found == many

    until(waiting, within=START_TIMEOUT, what=f"{many:,} InferenceSets are in progress")


def _made_young_and_scaled_up(inference_set: Json) -> None:
    """Ask for a replica that nobody makes. The second look prefers young objects."""
    inference_set["spec"]["replicas"] += 1
    inference_set["metadata"]["creationTimestamp"] = time.strftime(
        "%Y-%m-%dT%H:%M:%SZ", time.gmtime()
    )


# ---------------------------------------------------------------- status objects


def _object_rows(
    plane: ControlPlane,
    teams: BenchTeams,
    reporter: ReporterProcess,
    arguments: argparse.Namespace,
) -> Iterator[BenchRow]:
    meter, many = StatusCostMeter(plane, reporter), arguments.objects
    name = f"{many:,} status objects"
    time.sleep(arguments.calm)
    without = meter.measure(arguments.seconds)
    meter.begin()
    begun = time.monotonic()
    for number in range(many):
        status_objects.create(plane.client, team(number % teams.count), f"package-{number}")
    created = time.monotonic() - begun
    goal = max(many - BURST, 0) / WRITES_PER_SECOND + FIRST_SLACK + created
    until(lambda: _written(reporter) >= many, within=2 * goal, what="all have a status")
    took, first = time.monotonic() - begun, meter.end()
    yield BenchRow(
        f"{name}: all have a status",
        f"≤ {goal:.0f} s",
        f"{took:.0f} s",
        took <= goal,
        f"they are created within {created:.0f} s",
    )
    yield from _rate_rows(name, first)
    time.sleep(arguments.calm)
    yield from _steady_rows(name, meter.measure(max(arguments.seconds, 60)), without, many)


def _rate_rows(name: str, first: StatusCost) -> Iterator[BenchRow]:
    for seconds in (1, 60):
        most, budget = first.writes_within(seconds), BURST + WRITES_PER_SECOND * seconds
        span = "second" if seconds == 1 else "minute"
        yield BenchRow(
            f"{name}: writes in the busiest {span}",
            f"≤ {budget}",
            f"{most}",
            most <= budget,
            f"{WRITES_PER_SECOND} a second, bursts of {BURST}; audit log",
        )


def _steady_rows(
    name: str, steady: StatusCost, without: StatusCost, many: int
) -> Iterator[BenchRow]:
    most, expected = steady.writes_within(60), many * 60 / RENEWAL_SECONDS
    goal = min(2 * expected, 60 * WRITES_PER_SECOND) + BURST
    yield BenchRow(
        f"{name}, nothing changes: writes in the busiest minute",
        f"≤ {goal:.0f}",
        f"{most}",
        most <= goal,
        f"each is renewed every {RENEWAL_SECONDS} s, which is {expected:.0f} a minute",
    )
    yield BenchRow(
        f"{name}, nothing changes: CPU a minute",
        "",
        f"{steady.cpu:.2f} s",
        note=f"without them {without.cpu:.2f} s",
    )
    yield BenchRow(
        f"{name}: memory",
        "",
        f"{steady.memory:.0f} MiB",
        note=f"without them {without.memory:.0f} MiB",
    )


def _written(reporter: ReporterProcess) -> float:
    return reporter.metric("status_object_writes_total", result="written")


if __name__ == "__main__":
    sys.exit(main())
