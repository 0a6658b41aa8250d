"""
Measure how long Events are delayed when the leader is killed or stopped, with the default Lease.

Two replicas run. The leader ends, a Deployment is scaled to zero at the same moment, and the time is
measured until the Event of the other replica can be read. Meanwhile a finding that was announced
before lasts: it must not be announced again.
"""

import argparse
import asyncio
import contextlib
import signal
import sys
from collections import Counter
from collections.abc import Iterator

from e2e.bench.load import teams
from e2e.bench.rows import BenchRow
from e2e.bench.support.bench_cluster import (
    READY_TIMEOUT,
    BenchCluster,
    parser,
    run_program,
)
from e2e.bench.support.event_waiter import EventWaiter
from e2e.bench.support.plain_client import PlainClient
from e2e.bench.support.program import log_progress
from e2e.bench.trials import READY, WARNING, RouterTrials
from e2e.controlplane import Client
from e2e.support import events
from e2e.support.arguments import natural
from e2e.support.production_stack.components import BODY_BASED_ROUTER, path
from e2e.support.reporter_process import ReporterProcess


LEASE = 15
GOALS = {signal.SIGKILL: LEASE + 1.0, signal.SIGTERM: 2.0}
"""Seconds until the Event of the other replica can be read."""

NAMES = {signal.SIGKILL: "killed leader", signal.SIGTERM: "graceful stop"}
STANDING_REASON = "inferencesetEPPNotReady"
"""The reason of the finding that lasts during all failovers."""

PICKER = (
    f"/apis/apps/v1/namespaces/{teams.team(0)}/deployments/{teams.model(0, 0)}-inferencepool-epp"
)


def main() -> int:
    argument_parser = parser("failover", __doc__, (100,))
    add_arguments(argument_parser)
    return run_program(argument_parser.parse_args(), measure)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--failovers", type=natural, default=3, help="failovers of each kind; default: 3"
    )


def measure(cluster: BenchCluster, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    events.clear(cluster.plane.client)
    with (
        cluster.running_reporter(name="one") as one,
        cluster.running_reporter(name="two", follows=True) as two,
    ):
        pair = [one.reporter, two.reporter]
        with _lasting_finding(cluster.plane.client):
            took = asyncio.run(_failovers(cluster, pair, arguments.failovers))
            counted = Counter(events.reasons(cluster.plane.client))
    trials = sum(len(seconds) for seconds in took.values())
    expected = Counter({STANDING_REASON: 1, WARNING: trials, READY: trials})
    for number, seconds in took.items():
        yield BenchRow(
            f"failover, {NAMES[number]}, {cluster.size:,} InferenceSets",
            f"≤ {GOALS[number]:g} s",
            f"at most {max(seconds):.2f} s",
            max(seconds) <= GOALS[number],
            f"until the other's Event can be read; {len(seconds)} times",
        )
    yield BenchRow(
        f"Events over {trials} failovers, {cluster.size:,} InferenceSets",
        "none lost, none doubled",
        f"{counted.total()} of {expected.total()}",
        counted == expected,
        "" if counted == expected else f"{dict(counted)} instead of {dict(expected)}",
    )


@contextlib.contextmanager
def _lasting_finding(client: Client) -> Iterator[None]:
    before = client.get(PICKER)["spec"]["replicas"]
    client.patch(PICKER, {"spec": {"replicas": 0}})
    events.wait_for(client, STANDING_REASON, within=READY_TIMEOUT)
    yield
    client.patch(PICKER, {"spec": {"replicas": before}})
    generation = client.get(PICKER)["metadata"]["generation"]
    client.patch(f"{PICKER}/status", {"status": {"observedGeneration": generation}})


async def _failovers(
    cluster: BenchCluster, pair: list[ReporterProcess], times: int
) -> dict[signal.Signals, list[float]]:
    took: dict[signal.Signals, list[float]] = {number: [] for number in GOALS}
    async with PlainClient(cluster.plane) as session, asyncio.TaskGroup() as group:
        arrivals = EventWaiter(session)
        watch = group.create_task(arrivals.run())
        await arrivals.opened.wait()
        router = RouterTrials(session, arrivals, await session.get(path(BODY_BASED_ROUTER)))
        for number in [*GOALS] * times:
            (leader,) = (replica for replica in pair if replica.metric("leader") == 1)
            assert leader.process is not None
            leader.process.signal(number)
            took[number].append((await router.trial()).read)
            log_progress(f"{NAMES[number]}: {took[number][-1]:.2f} s")
            await asyncio.to_thread(_restart, leader)
        watch.cancel()
    return took


def _restart(reporter: ReporterProcess) -> None:
    reporter.stop()
    reporter.start(ready=False)
    reporter.until_ready(within=READY_TIMEOUT)


if __name__ == "__main__":
    sys.exit(main())
