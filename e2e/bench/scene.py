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

from e2e import workload
from e2e.bench import machine, rows
from e2e.bench.arguments import natural
from e2e.bench.rows import Row
from e2e.bench.teams import Teams
from e2e.controlplane import ControlPlane, NotWithin, assets, until
from e2e.faults.usage import Usage
from e2e.reporter_process import ReporterProcess


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

PATIENCE = 600
"""
Seconds in which a reporter gets ready, however busy the machine is.
"""


@dataclass
class Scene:
    plane: ControlPlane
    teams: Teams

    @classmethod
    @contextlib.contextmanager
    def opened(cls) -> Iterator[Self]:
        with ControlPlane(workload.BARE) as plane:
            print("\n".join(machine.lines(plane)), file=sys.stderr)
            yield cls(plane, Teams(plane))

    @property
    def size(self) -> int:
        return self.teams.inference_sets

    def grow(self, inference_sets: int) -> None:
        begun = time.monotonic()
        self.teams.grow(inference_sets)
        took = time.monotonic() - begun
        tell(f"{self.size:,} InferenceSets, {self.teams.objects():,} objects in {took:.0f} s")

    @contextlib.contextmanager
    def reporting(
        self, *flags: str, name: str = "reporter", follows: bool = False
    ) -> Iterator["Started"]:
        """
        A process that has finished its first pass over all there is, and leads unless it *follows*.
        """
        reporter = ReporterProcess(self.plane, *FLAGS, *flags, name=name, follows=follows)
        begun = time.monotonic()
        try:
            reporter.start(ready=False)
            reporter.until_ready(within=PATIENCE)
            self._until_whole(reporter)
            started = Started(reporter, time.monotonic() - begun)
            if not follows:
                reporter.until_leading(within=60)
            yield started
        except NotWithin:
            assert reporter.process is not None
            tell(reporter.process.tail(20))
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
            within=PATIENCE,
            what="it has read everything",
        )


class Started:
    """
    *took*: seconds until its first pass was finished, *cost*: what it had used by then.
    """

    def __init__(self, reporter: ReporterProcess, took: float) -> None:
        self.reporter, self.took = reporter, took
        self.cost = self.usage()

    def usage(self) -> Usage:
        assert self.reporter.process is not None
        return Usage.of(self.reporter.process.pid)


def tell(what: str) -> None:
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


def program(
    arguments: argparse.Namespace, measure: Callable[[Scene, argparse.Namespace], Iterator[Row]]
) -> int:
    """
    The exit code. *measure* is asked at each size, on one stack that grows.
    """
    try:
        assets.find()
    except assets.Missing as err:
        print(err, file=sys.stderr)
        return 1
    found: list[Row] = []
    with Scene.opened() as scene:
        for size in sorted(arguments.inferencesets):
            scene.grow(size)
            for row in measure(scene, arguments):
                tell(f"{row.name}: {row.figure}")
                found.append(row)
    missed = rows.tell(found, arguments.json)
    return int(bool(missed) and arguments.check)
