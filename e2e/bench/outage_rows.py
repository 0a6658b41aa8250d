"""
The figures of one outage after the other: what is said first, when the last is told, what it costs.
"""

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
from reporter.stages.announcing.grouping import GROUP_THRESHOLD


SETTLE = 30
"""
The default: seconds that all must be well before it is said.
"""

MOST_A_MINUTE = 50 + 60 * 10
"""
What the token bucket lets through in a minute: its burst, and ten a second.
"""

HARNESS_REASON = "modelharnessGatewayDataPlaneNotReady"
CAUSES_READY = {"clusterReady", "modelharnessReady"}
GOAL, ANSWERS, DEADLINE = 1.0, 1.0, 10.0
"""
Seconds: until the cluster's and the harness's cause can be read; the kubelet's default patience with
/livez; the deadline of the lease's renewal.
"""

QUIET = 30
"""
Seconds without a new Event after which the last of them has come.
"""

OUTAGE_TIMEOUT = 300
"""
Seconds for one answer of /status.
"""


class OutageMeasurement:
    """
    All of the same reporter.
    """

    def __init__(
        self,
        plane: ControlPlane,
        reporter: ReporterProcess,
        session: PlainClient,
        arguments: argparse.Namespace,
    ) -> None:
        self._plane, self._reporter, self._session = plane, reporter, session
        self._many, self._of_a_team = arguments.inferencesets, arguments.of_a_team
        self.heard, self._pulse = EventRecorder(session), LivenessMonitor(session, reporter)

    def background_tasks(self) -> Iterator[Coroutine[Any, Any, NoReturn]]:
        yield from (self.heard.run(), self._pulse.poll_livez(), self._pulse.poll_lease())

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
        begun, before = self._anew(), self._usage()
        await asyncio.to_thread(flood.write_first_half)
        out = {reason: await cause.scale_down() for reason, cause in causes.items()}
        await asyncio.to_thread(flood.write_second_half)
        note = f"in the middle of {_now() - begun:.1f} s of changes"
        for reason, at in out.items():
            yield await self._told(f"{name}: {reason}", reason, at, note)
        await asyncio.sleep(outage.hold)
        yield await self._all_told(name, outage.announced, begun)
        if not outage.announced:
            yield await self._suppressed(name)
        for row in self._costs(name, before):
            yield row

    async def _end(
        self,
        name: str,
        outage: OutageScenario,
        flood: BulkChange,
        causes: dict[str, ScalableDeployment],
    ) -> AsyncIterator[BenchRow]:
        begun, before = self._anew(), self._usage()
        await asyncio.to_thread(flood.undo)
        back = max([await cause.scale_up() for cause in causes.values()])
        for ready in sorted(CAUSES_READY):
            yield await self._told(f"{name}: {ready}", ready, back, "after the settle", SETTLE)
        yield await self._all_told(name, READY_REASON if outage.announced else "", begun)
        for row in self._costs(name, before):
            yield row

    # ------------------------------------------------------------ single figures

    async def _told(
        self, name: str, reason: str, at: float, note: str, after: float = 0
    ) -> BenchRow:
        goal, within = f"≤ {GOAL:g} s", after + 120
        if not await self.heard.until(
            lambda: bool(self.heard.first_writes(reason)), within=within
        ):
            return BenchRow(name, goal, f"not within {within:g} s", met=False, note=note)
        took = self.heard.first_writes(reason)[0].at - at - after
        return BenchRow(name, goal, f"{took:.2f} s", took <= GOAL, note)

    async def _all_told(self, name: str, reason: str, begun: float) -> BenchRow:
        """
        When nothing new has been said for a while. Without *reason* nothing should have been.
        """
        while (quiet := QUIET - (_now() - max(self.heard.newest(), begun))) > 0:
            await asyncio.sleep(quiet)
        new = Counter(each.reason for each in self.heard.writes if each.first)
        said = ", ".join(f"{count:,} {each}" for each, count in new.most_common())
        if not reason:
            return BenchRow(f"{name}: new Events", "2", said, sum(new.values()) == 2)
        last = max((each.at for each in self.heard.first_writes(reason)), default=begun) - begun
        met = new[reason] == self._many if self._of_a_team <= GROUP_THRESHOLD else None
        goal = f"all {self._many:,} InferenceSets"
        return BenchRow(f"{name}: new Events", goal, said, met, f"the last after {last:.0f} s")

    async def _suppressed(self, name: str) -> BenchRow:
        begun = time.monotonic()
        page = await asyncio.to_thread(self._status)
        took = time.monotonic() - begun
        verdicts = [verdict for each in page["subjects"] for verdict in each["verdicts"]]
        silent = sum(verdict["state"] == "suppressed" for verdict in verdicts)
        met = silent == self._many
        note = f"/status took {took:.1f} s"
        return BenchRow(f"{name}: suppressed", f"{self._many:,}", f"{silent:,}", met, note)

    def _status(self) -> Json:
        url = f"http://127.0.0.1:{self._reporter.health_port}/status"
        with urllib.request.urlopen(url, timeout=OUTAGE_TIMEOUT) as answer:
            found: Json = json.load(answer)
            return found

    def _costs(self, name: str, before: ProcessUsage) -> Iterator[BenchRow]:
        after, most = self._usage(), self.heard.max_writes_within(60)
        yield BenchRow(
            f"{name}: Events written in the busiest minute",
            f"≤ {MOST_A_MINUTE}",
            f"{most}",
            most <= MOST_A_MINUTE,
            f"{len(self.heard.writes):,} in {self._lasted():.0f} s",
        )
        yield BenchRow(
            f"{name}: memory",
            "",
            f"{after.memory:.0f} MiB, at most {after.peak:.0f}",
            note=f"before {before.memory:.0f}",
        )
        cpu = (after.cpu - before.cpu) * 60 / self._lasted()
        yield BenchRow(
            f"{name}: CPU a minute", "", f"{cpu:.1f} s", note=f"for {self._lasted():.0f} s"
        )
        slowest, pause = self._pulse.slowest, self._pulse.pause
        met = slowest <= ANSWERS
        yield BenchRow(
            f"{name}: slowest answer of /livez", f"≤ {ANSWERS:g} s", f"{slowest:.2f} s", met
        )
        hands = len(self._pulse.leaders) - 1
        yield BenchRow(
            f"{name}: longest pause of the lease's renewal",
            f"< {DEADLINE:g} s",
            f"{pause:.1f} s",
            pause < DEADLINE and not hands,
            f"lost {hands} times",
        )

    # ------------------------------------------------------------ used above

    def _anew(self) -> float:
        self._pulse.reset()
        self.heard.writes.clear()
        self._begun = _now()
        return self._begun

    def _lasted(self) -> float:
        return _now() - self._begun

    def _usage(self) -> ProcessUsage:
        assert self._reporter.process is not None
        return ProcessUsage.of(self._reporter.process.pid)


def _now() -> float:
    return asyncio.get_running_loop().time()
