"""
A control plane with a stack that grows, and the real process on it.
"""

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from e2e.bench import rows
from e2e.bench.load.teams import BenchTeams
from e2e.bench.rows import BenchRow
from e2e.controlplane import ControlPlane, WaitTimeout, assets, until
from e2e.support import machine
from e2e.support.arguments import natural
from e2e.support.process_usage import ProcessUsage
from e2e.support.production_stack import workload
from e2e.support.reporter_process import ReporterProcess


FLAGS = (
    "--settle-seconds=1",
    "--startup-grace-seconds=0",
    "--lease-duration-seconds=15",
    "--renew-deadline-seconds=10",
    "--retry-period-seconds=2",
)
"""
What is young is judged at once, and trials need not wait for the last one to settle; the election
as by default.
"""

READY_TIMEOUT = 600
"""
Seconds in which a reporter gets ready, however busy the machine is.
"""


@dataclass
class BenchCluster:
    plane: ControlPlane
    teams: BenchTeams

    @classmethod
    @contextlib.contextmanager
    def open(cls) -> Iterator[Self]:
        with ControlPlane(workload.MINIMAL_OPTIONS) as plane:
            print("\n".join(machine.lines(plane)), file=sys.stderr)
            yield cls(plane, BenchTeams(plane))

    @property
    def size(self) -> int:
        return self.teams.inference_sets

    def grow(self, inference_sets: int) -> None:
        begun = time.monotonic()
        self.teams.grow(inference_sets)
        took = time.monotonic() - begun
        log_progress(
            f"{self.size:,} InferenceSets, {self.teams.objects():,} objects in {took:.0f} s"
        )

    @contextlib.contextmanager
    def running_reporter(
        self, *flags: str, name: str = "reporter", follows: bool = False
    ) -> Iterator["RunningReporter"]:
        """
        A process that has finished its first pass over all there is, and leads unless it *follows*.
        """
        reporter = ReporterProcess(self.plane, *FLAGS, *flags, name=name, follows=follows)
        begun = time.monotonic()
        try:
            reporter.start(ready=False)
            reporter.until_ready(within=READY_TIMEOUT)
            self._until_whole(reporter)
            started = RunningReporter(reporter, time.monotonic() - begun)
            if not follows:
                reporter.until_leading(within=60)
            yield started
        except WaitTimeout:
            assert reporter.process is not None
            log_progress(reporter.process.tail(20))
            raise
        finally:
            if reporter.running:
                reporter.stop()

    def _until_whole(self, reporter: ReporterProcess) -> None:
        """
        It is ready as well when the API server could not list a kind, which is then unknown.
        """
        kinds = {"pods": self.teams.pods, "inferencesets.kaito.sh": self.size}
        until(
            lambda: all(reporter.metric("objects", kind=k) >= n for k, n in kinds.items()),
            within=READY_TIMEOUT,
            what="it has read everything",
        )


class RunningReporter:
    """
    *took*: seconds until its first pass was finished, *cost*: what it had used by then.
    """

    def __init__(self, reporter: ReporterProcess, took: float) -> None:
        self.reporter, self.took = reporter, took
        self.cost = self.usage()

    def usage(self) -> ProcessUsage:
        assert self.reporter.process is not None
        return ProcessUsage.of(self.reporter.process.pid)


def log_progress(what: str) -> None:
    """
    How far it is, beside the rows.
    """
    print(f"{time.strftime('%H:%M:%S')}  {what}", file=sys.stderr, flush=True)


# ---------------------------------------------------------------- programs


def parser(name: str, about: str | None, sizes: Sequence[int]) -> argparse.ArgumentParser:
    """
    For a program of its own, with the sizes it measures at as ``inferencesets``.
    """
    made = argparse.ArgumentParser(
        prog=f"python -m e2e.bench.{name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shown = " ".join(map(str, sizes))
    made.add_argument(
        "--inferencesets",
        type=natural,
        nargs="+",
        default=sizes,
        help=f"sizes, rounded up to tens; default: {shown}",
    )
    made.add_argument("--check", action="store_true", help="exit with 1 when a goal is missed")
    rows.add_argument(made)
    return made


def run_program(
    arguments: argparse.Namespace,
    measure: Callable[[BenchCluster, argparse.Namespace], Iterator[BenchRow]],
) -> int:
    """
    The exit code. *measure* is asked at each size, on one stack that grows.
    """
    try:
        assets.find()
    except assets.AssetsMissing as err:
        print(err, file=sys.stderr)
        return 1
    found: list[BenchRow] = []
    with BenchCluster.open() as scene:
        for size in sorted(arguments.inferencesets):
            scene.grow(size)
            for row in measure(scene, arguments):
                log_progress(f"{row.name}: {row.figure}")
                found.append(row)
    missed = rows.report(found, arguments.json)
    return int(bool(missed) and arguments.check)
