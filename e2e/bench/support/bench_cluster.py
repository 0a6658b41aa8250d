"""A control plane with a growing stack, and reporters on it."""

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from e2e.bench.load.teams import BenchTeams
from e2e.bench.rows import BenchRow
from e2e.bench.support import program
from e2e.bench.support.program import log_progress
from e2e.controlplane import ControlPlane, WaitTimeout, until
from e2e.support import machine
from e2e.support.process_usage import ProcessUsage
from e2e.support.production_stack import workload
from e2e.support.reporter_process import ReporterProcess


FLAGS = (
    "--scrape=loading",  # the copied Ready pods have no page
    "--settle-seconds=1",
    "--startup-grace-seconds=0",
    "--lease-duration-seconds=15",
    "--renew-deadline-seconds=10",
    "--retry-period-seconds=2",
)
"""
No startup grace and a short settle time, so that trials need not wait; the election's defaults.
"""

READY_TIMEOUT = 600
"""Seconds for a reporter to become ready on a busy machine."""

READY_PAUSE = 0.05
"""Seconds by which a start may be seen late. A test looks less often the longer it waits, down to once in two seconds."""


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
        """Run a reporter. It has finished its first pass and leads, unless it *follows*."""
        reporter = ReporterProcess(self.plane, *FLAGS, *flags, name=name, follows=follows)
        begun = time.monotonic()
        try:
            reporter.start(ready=False)
            reporter.until_ready(within=READY_TIMEOUT, pause=READY_PAUSE)
            started = RunningReporter(reporter, time.monotonic() - begun)
            if not self._has_read_all(reporter):
                until(
                    lambda: self._has_read_all(reporter),
                    within=READY_TIMEOUT,
                    what="the reporter has read all objects",
                )
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

    def _has_read_all(self, reporter: ReporterProcess) -> bool:
        """
        Return whether all objects are read; a reporter also becomes ready if a kind cannot be listed.

        It makes the whole metrics page, which takes the reporter up to a second and is no part of a start.
        """
        kinds = {"pods": self.teams.pods, "inferencesets.kaito.sh": self.size}
        try:
            found = reporter.metric_by("kind", "objects")
        except TimeoutError:  # of a page, while an API server that starts has the processors
            return False
        return all(found.get(kind, 0) >= number for kind, number in kinds.items())


class RunningReporter:
    """A running reporter; *took* is the seconds to its first pass, *cost* its usage until then."""

    def __init__(self, reporter: ReporterProcess, took: float) -> None:
        self.reporter, self.took = reporter, took
        self.cost = self.usage()

    def usage(self) -> ProcessUsage:
        assert self.reporter.process is not None
        return ProcessUsage.of(self.reporter.process.pid)


# ---------------------------------------------------------------- programs


def parser(name: str, description: str | None, sizes: Sequence[int]) -> argparse.ArgumentParser:
    """Build the argument parser of a benchmark with its default *sizes*."""
    result = program.parser(name, description)
    program.add_sizes(result, sizes)
    return result


def run_program(
    arguments: argparse.Namespace,
    measure: Callable[[BenchCluster, argparse.Namespace], Iterator[BenchRow]],
) -> int:
    """
    Call *measure* at each size of one growing stack, print the rows, and return the exit code.
    """

    def at_each_size(_: argparse.Namespace) -> Iterator[BenchRow]:
        with BenchCluster.open() as cluster:
            for size in sorted(arguments.inferencesets):
                cluster.grow(size)
                yield from measure(cluster, arguments)

    return program.run(arguments, at_each_size)
