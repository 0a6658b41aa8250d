"""Several reporters, each behind a proxy of its own, so that each request has a known sender."""

import contextlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from e2e.controlplane import ControlPlane, until
from e2e.faults.support.proxy import FaultProxy, fault_proxy
from e2e.support import events
from e2e.support.elections import STEADY_LEASE
from e2e.support.events import Event
from e2e.support.reporter_process import PROGRAM, ReporterProcess


SKEWED_PROGRAM = (sys.executable, "-m", "e2e.faults.support.altered_reporter")


@dataclass(frozen=True)
class ProxiedReplica:
    """A reporter and the *proxy* that records its requests, with times of the monotonic clock."""

    reporter: ReporterProcess
    proxy: FaultProxy

    @property
    def name(self) -> str:
        return self.reporter.name

    @property
    def is_leader(self) -> bool:
        return self.reporter.running and self.reporter.metric("leader") == 1

    @property
    def pid(self) -> int:
        assert self.reporter.process is not None
        return self.reporter.process.pid

    def writes(self, *, since: float = 0) -> int:
        """Return its requests to write an Event."""
        return self.proxy.count(r"/events\b", methods=("POST", "PATCH"), since=since)

    def log_time(self, *words: str) -> str:
        """
        Return the time of the newest log line with these words, in a form that sorts as text.
        """
        return self.reporter.lines(*words)[-1].split()[0]


@contextlib.contextmanager
def running_replica(
    plane: ControlPlane,
    name: str,
    *flags: str,
    env: Mapping[str, str] | None = None,
    leading: bool = False,
) -> Iterator[ProxiedReplica]:
    """
    Run a replica behind its own proxy, with a steady lease unless *flags* have another one. With
    *env* it runs the program that *env* alters.
    """
    with fault_proxy(plane) as proxy:
        reporter = ReporterProcess(
            plane,
            *STEADY_LEASE,
            *flags,
            proxy.flag(),
            name=name,
            env=env,
            program=PROGRAM if env is None else SKEWED_PROGRAM,
            follows=not leading,
        )
        with reporter:
            yield ProxiedReplica(reporter, proxy)


@contextlib.contextmanager
def running_replicas(
    plane: ControlPlane, number: int, *flags: str
) -> Iterator[list[ProxiedReplica]]:
    """Run several replicas, of which the first leads."""
    names = ("one", "two", "three")[:number]
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(running_replica(plane, name, *flags, leading=name == "one"))
            for name in names
        ]


def wait_for_leader(among: list[ProxiedReplica], *, within: float) -> ProxiedReplica:
    def read() -> ProxiedReplica | None:
        return next((each for each in among if each.is_leader), None)

    return until(read, within=within, what="another one leads")


def wait_for_write_of(plane: ControlPlane, reason: str, name: str, *, within: float) -> Event:
    """
    Wait until the newest write of an Event of this reason is by the replica *name*. Its predecessor
    may have renewed the Event until its last moment, so no count is expected.
    """

    def read() -> Event | None:
        found = events.reporter_events(plane.client, reason)[-1:]
        return next((each for each in found if each.raw["reportingInstance"] == name), None)

    return until(read, within=within, what=f"Event {reason} written by {name}")
