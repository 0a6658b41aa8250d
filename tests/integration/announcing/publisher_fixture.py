"""A publisher whose probes return what the test sets, against an API server over real sockets."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from devcluster.server import DevCluster
from reporter.announcing.announcements import Announcements
from reporter.announcing.earlier_events import EarlierEvents
from reporter.announcing.event_plan import EventPlan
from reporter.announcing.event_writer import EventWriteLog, EventWriter
from reporter.controller.controller import Controller
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.kube.client import RestClient
from reporter.kube.events import EventClient
from reporter.kube.leader_writer import LeaderWriter
from reporter.model.enums import Emission, Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import Clear, InvolvedObject, Unknown, Verdict
from reporter.process.clock import Clock
from tests.support.background import running_beside
from tests.support.builders import a_catalogue, a_key, an_entry
from tests.support.reason_states import reason_states
from tests.support.scripted_probe import a_scripted_probe
from tests.support.subject_store import a_subject_store


ISTIO, BBR, KAITO = a_key("clusterIstio"), a_key("clusterBBR"), a_key("clusterKaito")
CATALOGUE = a_catalogue(
    an_entry("clusterIstio", 10), an_entry("clusterBBR", 20), an_entry("clusterKaito", 30)
)
EVENTS = "/api/v1/namespaces/kube-system/events"


ALL = EvaluationSettings(emission=Emission.ALL)

MODELS = tuple(Subject(Layer.MODELDEPLOYMENT, f"team-{i:02}", "qwen") for i in range(70))
PODS_OF = [a_key("inferencesetPods", subject) for subject in MODELS]
MANY = a_catalogue(
    an_entry("clusterIstio", 10),
    an_entry("clusterBBR", 20),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
)


def lines(caplog: pytest.LogCaptureFixture, word: str) -> list[str]:
    return [line for line in map(str, (r.getMessage() for r in caplog.records)) if word in line]


class ManualClock(Clock):
    """
    A clock that advances only on demand. It starts at the real time, because names of Events
    contain it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now = super().now()

    def now(self):
        return self._now

    def advance(self, span: timedelta | float) -> None:
        self._now += span if isinstance(span, timedelta) else timedelta(seconds=span)


class ManualLeadership:
    """
    Leadership that the test grants. *firm* returns whether the lease is valid at the moment of a
    write.
    """

    def __init__(self) -> None:
        self.firm: Callable[[], bool] = lambda: True
        self.until: float | None = None
        self.checks = 0
        self._up, self._down = asyncio.Event(), asyncio.Event()
        self.acquire()

    @property
    def is_leader(self) -> bool:
        return self._up.is_set()

    @property
    def holder(self) -> str:
        return ""

    def holds_lease(self) -> bool:
        self.checks += 1
        return self.is_leader and self.firm()

    def deadline(self) -> float | None:
        return self.until

    async def wait_acquired(self) -> None:
        await self._up.wait()

    async def wait_lost(self) -> None:
        await self._down.wait()

    def acquire(self) -> None:
        self._down.clear()
        self._up.set()

    def release(self) -> None:
        self._up.clear()
        self._down.set()


def involved_for(_, subject: Subject) -> InvolvedObject:
    return InvolvedObject("v1", "Namespace", subject.namespace or "kube-system", "uid-home")


def an_evaluator(catalogue, verdicts: dict, *, settings=None, requires=()) -> Evaluator:
    """
    Build an evaluator whose one probe returns *verdicts*: a verdict, the cause of Unknown, or
    Clear by default.
    """

    def evaluate(_, request) -> list[Verdict]:
        verdict = verdicts.get(request.key())
        if isinstance(verdict, str):
            return [Unknown(request.key(), verdict)]
        return [Clear(request.key()) if verdict is None else verdict]

    probe = a_scripted_probe(evaluate, required_kinds=requires)
    return Evaluator(catalogue, {"none": probe}, {}, settings or EvaluationSettings())


class PublisherFixture:
    """A publisher with everything that it needs; *results* counts the results of its requests."""

    def __init__(self, server: DevCluster, api: RestClient, **changes) -> None:
        self.server = server
        self.clock = changes.get("clock") or ManualClock()
        self.leadership = ManualLeadership()
        self.results: Counter[str] = Counter()
        self.verdicts: dict = {}
        self.task: asyncio.Task | None = None
        self.store = a_subject_store(changes.get("subjects", ()))
        evaluator = an_evaluator(
            changes.get("catalogue", CATALOGUE),
            self.verdicts,
            settings=changes.get("settings"),
        )
        self.announcements = Announcements(
            evaluator.catalogue, evaluator.settings, self.clock, involved_for=involved_for
        )
        self.controller = Controller(
            self.store, evaluator, self.announcements, self.clock, resync=timedelta(hours=1)
        )
        sink = changes.get("sink") or EventClient(api, "reporter-0")
        count = lambda result: self.results.update([result])  # noqa: E731
        self.plan = EventPlan(
            self.announcements,
            EarlierEvents(self.announcements, sink, self.clock, jitter=lambda: 0.0),
            EventWriteLog(count),
        )
        self.writer = LeaderWriter(
            self.plan,
            EventWriter(sink, self.leadership, count_write=count).write,
            self.leadership,
            self.clock,
            jitter=lambda: 0.0,
        )

    # ------------------------------------------------------------ what happens

    def run_pass(self) -> None:
        self.controller.run_pass(full=True)

    def set_verdicts(self, *verdicts) -> None:
        self.verdicts.update({verdict.key: verdict for verdict in verdicts})
        self.run_pass()

    def set_clear(self, *keys) -> None:
        for key in keys:
            self.verdicts.pop(key, None)
        self.run_pass()

    def advance(self, span: timedelta | float) -> None:
        """Let time pass second by second, with a pass each."""
        left = span if isinstance(span, timedelta) else timedelta(seconds=span)
        while left > timedelta(0):
            self.clock.advance(min(left, timedelta(seconds=1)))
            self.run_pass()
            left -= timedelta(seconds=1)

    # ------------------------------------------------------------ what is seen

    @property
    def events(self) -> list[dict]:
        return self.server.cluster.list("events", "kube-system")

    @property
    def event_counts(self) -> list[str]:
        """The Events in the cluster, as ``reason xcount``."""
        return sorted(f"{event['reason']} x{event['count']}" for event in self.events)

    def requests(self, method: str) -> int:
        return sum(
            m == method and path.partition("?")[0].startswith(EVENTS)
            for m, path in self.server.requests
        )

    @property
    def writes(self) -> int:
        return self.requests("POST") + self.requests("PATCH")

    async def until(self, condition: Callable[[], bool], *, within: float = 60) -> None:
        try:
            async with asyncio.timeout(within):
                while not condition():
                    if self.announcements.has_remembered:
                        self.run_pass()
                    assert self.task is None or not self.task.done(), "the publisher ended"
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(
                f"{self.event_counts} {self.results} {reason_states(self.controller.evaluation)}"
            ) from None

    async def wait_for_events(self, *events: str) -> None:
        """Wait until these are the Events in the cluster and no write is in flight."""
        in_flight = self.writer._limits._in_flight
        await self.until(lambda: self.event_counts == sorted(events) and not in_flight)

    async def wait_for_writes(self, number: int) -> None:
        await self.until(lambda: self.writes == number)

    async def wait_for_result(self, result: str, number: int) -> None:
        await self.until(lambda: self.results[result] == number)

    async def wait_idle(self) -> None:
        """
        Wait until the publisher has nothing left to do; the absence of a write proves nothing
        before.
        """
        still = 0
        async with asyncio.timeout(60):
            while still < 6:
                if self.announcements.has_remembered:
                    self.run_pass()
                before = self.writes, self.requests("GET"), +self.results
                await asyncio.sleep(0.02)
                same = before == (self.writes, self.requests("GET"), +self.results)
                still = still + 1 if same else 0


@asynccontextmanager
async def running_publisher(
    server: DevCluster, api: RestClient, **changes
) -> AsyncIterator[PublisherFixture]:
    """Run the publisher after a first pass; its failure fails the test."""
    fixture = PublisherFixture(server, api, **changes)
    fixture.run_pass()
    async with running_beside(fixture.writer.run(), "publisher") as fixture.task:
        yield fixture
