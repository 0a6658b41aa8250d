"""The figures of an outage: the first Event, the last Event, and the cost."""

import argparse
import asyncio
import json
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, NoReturn

from e2e.bench.load.bulk_change import BulkChange
from e2e.bench.load.deployments import ScalableDeployment, data_plane
from e2e.bench.load.outages import OutageScenario
from e2e.bench.rows import BenchRow
from e2e.bench.support.event_recorder import EventRecorder
from e2e.bench.support.liveness import LivenessMonitor
from e2e.bench.support.plain_client import PlainClient
from e2e.controlplane import ControlPlane, Json
from e2e.support.process_usage import ProcessUsage
from e2e.support.production_stack.inference_sets import READY_REASON
from e2e.support.reporter_process import ReporterProcess
from reporter.announcing.grouping import GROUP_THRESHOLD


SETTLE = 30
"""The default of --settle-seconds."""

MOST_A_MINUTE = 50 + 60 * 10
"""Maximum writes a minute of the token bucket: its burst and ten a second."""

HARNESS_REASON = "modelharnessGatewayDataPlaneNotReady"
CAUSES_READY = {"clusterReady", "modelharnessReady"}
GOAL, LIVEZ_TIMEOUT, RENEW_DEADLINE = 1.0, 1.0, 10.0
"""
Seconds: until the Events of cluster and harness can be read; the kubelet's default timeout of a
liveness probe; the deadline to renew the Lease.
"""

MEMORY_GOAL, SIZE_OF_MEMORY = 230, 10_000
"""Maximum MiB while this many InferenceSets have a finding."""

QUIET = 30
"""Seconds without a new Event after which the last one has come."""

STATUS_TIMEOUT = 300
"""Seconds for a response of /status."""


class OutageMeasurement:
    """Measures outages of one reporter, one after the other."""

    def __init__(
        self,
        plane: ControlPlane,
        reporter: ReporterProcess,
        session: PlainClient,
        arguments: argparse.Namespace,
    ) -> None:
        self._plane, self._reporter, self._session = plane, reporter, session
        self._many, self._of_a_team = arguments.inferencesets, arguments.of_a_team
        self.recorder, self._liveness = EventRecorder(session), LivenessMonitor(session, reporter)

    def background_tasks(self) -> Iterator[Coroutine[Any, Any, NoReturn]]:
        yield from (self.recorder.run(), self._liveness.poll_livez(), self._liveness.poll_lease())

    async def rows(self, outage: OutageScenario) -> AsyncIterator[BenchRow]:
        flood = await asyncio.to_thread(BulkChange, self._plane, outage.prefix, outage.change)
        causes = {
            outage.reason: ScalableDeployment(self._session, *outage.cause),
            HARNESS_REASON: ScalableDeployment(self._session, *data_plane(self._plane.client)),
        }
        name = f"{outage.name} at {self._many:,}"
        async for row in self._begin(name, outage, flood, causes):
            yield row
        async for row in self._end(f"{name}, its end", outage, flood, causes):
            yield row

    async def _begin(
        self,
        name: str,
        outage: OutageScenario,
        flood: BulkChange,
        causes: dict[str, ScalableDeployment],
    ) -> AsyncIterator[BenchRow]:
        begun, before = self._reset(), self._usage()
        await asyncio.to_thread(flood.write_first_half)
        out = {reason: await cause.scale_down() for reason, cause in causes.items()}
        await asyncio.to_thread(flood.write_second_half)
        note = f"in the middle of {_now() - begun:.1f} s of changes"
        for reason, at in out.items():
            yield await self._announcement_row(f"{name}: {reason}", reason, at, note)
        await asyncio.sleep(outage.hold)
        yield await self._new_events_row(name, outage.announced, begun)
        if not outage.announced:
            yield await self._suppressed_row(name)
        for row in self._cost_rows(name, before):
            yield row

    async def _end(
        self,
        name: str,
        outage: OutageScenario,
        flood: BulkChange,
        causes: dict[str, ScalableDeployment],
    ) -> AsyncIterator[BenchRow]:
        begun, before = self._reset(), self._usage()
        await asyncio.to_thread(flood.undo)
        back = max([await cause.scale_up() for cause in causes.values()])
        for ready in sorted(CAUSES_READY):
            yield await self._announcement_row(
                f"{name}: {ready}", ready, back, "after the settle", SETTLE
            )
        yield await self._new_events_row(name, READY_REASON if outage.announced else "", begun)
        for row in self._cost_rows(name, before):
            yield row

    # ------------------------------------------------------------ single figures

    async def _announcement_row(
        self, name: str, reason: str, at: float, note: str, after: float = 0
    ) -> BenchRow:
        goal, within = f"≤ {GOAL:g} s", after + 120
        if not await self.recorder.until(
            lambda: bool(self.recorder.first_writes(reason)), within=within
        ):
            return BenchRow(name, goal, f"not within {within:g} s", met=False, note=note)
        took = self.recorder.first_writes(reason)[0].at - at - after
        return BenchRow(name, goal, f"{took:.2f} s", took <= GOAL, note)

    async def _new_events_row(self, name: str, reason: str, begun: float) -> BenchRow:
        """
        Wait until no new Event comes, and return the number of new Events.

        All InferenceSets must be announced with *reason*; none if it is empty.
        """
        while (quiet := QUIET - (_now() - max(self.recorder.newest(), begun))) > 0:
            await asyncio.sleep(quiet)
        new = Counter(write.reason for write in self.recorder.writes if write.first)
        counts = ", ".join(f"{count:,} {name}" for name, count in new.most_common())
        if not reason:
            return BenchRow(f"{name}: new Events", "2", counts, sum(new.values()) == 2)
        last = (
            max((write.at for write in self.recorder.first_writes(reason)), default=begun) - begun
        )
        met = new[reason] == self._many if self._of_a_team <= GROUP_THRESHOLD else None
        goal = f"all {self._many:,} InferenceSets"
        return BenchRow(f"{name}: new Events", goal, counts, met, f"the last after {last:.0f} s")

    async def _suppressed_row(self, name: str) -> BenchRow:
        begun = time.monotonic()
        page = await asyncio.to_thread(self._status)
        took = time.monotonic() - begun
        verdicts = [verdict for subject in page["subjects"] for verdict in subject["verdicts"]]
        suppressed = sum(verdict["state"] == "suppressed" for verdict in verdicts)
        met = suppressed == self._many
        note = f"/status took {took:.1f} s"
        return BenchRow(f"{name}: suppressed", f"{self._many:,}", f"{suppressed:,}", met, note)

    def _status(self) -> Json:
        url = f"http://127.0.0.1:{self._reporter.health_port}/status"
        with urllib.request.urlopen(url, timeout=STATUS_TIMEOUT) as answer:
            page: Json = json.load(answer)
            return page

    def _cost_rows(self, name: str, before: ProcessUsage) -> Iterator[BenchRow]:
        after, most = self._usage(), self.recorder.max_writes_within(60)
        yield BenchRow(
            f"{name}: Events written in the busiest minute",
            f"≤ {MOST_A_MINUTE}",
            f"{most}",
            most <= MOST_A_MINUTE,
            f"{len(self.recorder.writes):,} in {self._seconds():.0f} s",
        )
        large = self._many >= SIZE_OF_MEMORY
        yield BenchRow(
            f"{name}: memory",
            f"≤ {MEMORY_GOAL} MiB" if large else "",
            f"{after.memory:.0f} MiB, at most {after.peak:.0f}",
            after.memory <= MEMORY_GOAL if large else None,
            f"before {before.memory:.0f}",
        )
        cpu = (after.cpu - before.cpu) * 60 / self._seconds()
        yield BenchRow(
            f"{name}: CPU a minute", "", f"{cpu:.1f} s", note=f"for {self._seconds():.0f} s"
        )
        slowest, pause = self._liveness.slowest, self._liveness.pause
        met = slowest <= LIVEZ_TIMEOUT
        yield BenchRow(
            f"{name}: slowest answer of /livez", f"≤ {LIVEZ_TIMEOUT:g} s", f"{slowest:.2f} s", met
        )
        handovers = len(self._liveness.leaders) - 1
        yield BenchRow(
            f"{name}: longest pause of the lease's renewal",
            f"< {RENEW_DEADLINE:g} s",
            f"{pause:.1f} s",
            pause < RENEW_DEADLINE and not handovers,
            f"lost {handovers} times",
        )

    # ------------------------------------------------------------ helpers

    def _reset(self) -> float:
        self._liveness.reset()
        self.recorder.writes.clear()
        self._begun = _now()
        return self._begun

    def _seconds(self) -> float:
        return _now() - self._begun

    def _usage(self) -> ProcessUsage:
        assert self._reporter.process is not None
        return ProcessUsage.of(self._reporter.process.pid)


def _now() -> float:
    return asyncio.get_running_loop().time()
