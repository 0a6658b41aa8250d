"""
What the tests of the speaker share: a stage whose probes say what the test says, over real sockets.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from reporter.embedded.server import EmbeddedServer
from reporter.kube.client.client import RestClient
from reporter.kube.objects.events import EventClient
from reporter.model.entries import ProbeSpec
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Clear, InvolvedObject, Unknown, Verdict
from reporter.runtime.announcing.announcements import Announcements
from reporter.runtime.announcing.publisher import EventPublisher
from reporter.runtime.clock import Clock
from reporter.runtime.controller import Controller
from reporter.stages.evaluation.evaluation import EvaluationSettings
from reporter.stages.evaluation.states import reason_states
from reporter.stages.pipeline import Evaluator
from reporter.stages.probes.probe import Probe
from reporter.stages.snapshot.subjects import Subjects
from tests.support.builders import a_catalogue, a_key, a_store, an_entry


ISTIO, BBR, KAITO = a_key("clusterIstio"), a_key("clusterBBR"), a_key("clusterKaito")
CATALOGUE = a_catalogue(
    an_entry("clusterIstio", 10), an_entry("clusterBBR", 20), an_entry("clusterKaito", 30)
)
EVENTS = "/api/v1/namespaces/kube-system/events"


class ManualClock(Clock):
    """
    Stands still until it is advanced; begins at the true time, by which names of Events differ.
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
    The lead, passed by hand. *firm* is whether it still stands at the moment of a write.
    """

    def __init__(self) -> None:
        self.firm: Callable[[], bool] = lambda: True
        self.until: float | None = None
        self.asked = 0
        self._up, self._down = asyncio.Event(), asyncio.Event()
        self.acquire()

    @property
    def is_leader(self) -> bool:
        return self._up.is_set()

    @property
    def holder(self) -> str:
        return ""

    def holds_lease(self) -> bool:
        self.asked += 1
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


def an_evaluator(catalogue, says: dict, subjects=(), *, terms=None, requires=()) -> Evaluator:
    """
    Its one probe answers what *says* holds: a verdict, why it cannot look, or nothing if all is well.
    """

    def judge(_, question) -> list[Verdict]:
        said = says.get(question.key())
        if isinstance(said, str):
            return [Unknown(question.key(), said)]
        return [Clear(question.key()) if said is None else said]

    probe = Probe(ProbeSpec("none", object, required_kinds=requires), judge)

    class Play(Evaluator):
        def refresh_subjects(self, snapshot, before):
            return Subjects(frozenset({CLUSTER_SUBJECT, *subjects}))

    return Play(catalogue, {"none": probe}, {}, terms or EvaluationSettings())


class PublisherFixture:
    """
    A speaker and all that it speaks from; *results* counts what it told of its requests.
    """

    def __init__(self, server: EmbeddedServer, api: RestClient, **changes) -> None:
        self.server = server
        self.clock = changes.get("clock") or ManualClock()
        self.leadership = ManualLeadership()
        self.results: Counter[str] = Counter()
        self.says: dict = {}
        self.task: asyncio.Task | None = None
        self.store = a_store()
        evaluator = an_evaluator(
            changes.get("catalogue", CATALOGUE),
            self.says,
            changes.get("subjects", ()),
            terms=changes.get("terms"),
        )
        self.announcements = Announcements(
            evaluator.catalogue, evaluator.settings, self.clock, involved_for=involved_for
        )
        self.controller = Controller(
            self.store, evaluator, self.announcements, self.clock, resync=timedelta(hours=1)
        )
        self.publisher = EventPublisher(
            self.announcements,
            changes.get("book") or EventClient(api, "reporter-0"),
            self.leadership,
            self.clock,
            count_write=lambda result: self.results.update([result]),
            jitter=lambda: 0.0,
        )

    # ------------------------------------------------------------ what happens

    def run_pass(self) -> None:
        self.controller.run_pass(full=True)

    def set_verdicts(self, *verdicts) -> None:
        self.says.update({verdict.key: verdict for verdict in verdicts})
        self.run_pass()

    def set_clear(self, *keys) -> None:
        for key in keys:
            self.says.pop(key, None)
        self.run_pass()

    def advance(self, span: timedelta | float) -> None:
        """
        Let so much time pass, second by second.
        """
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
        """
        What stands in the cluster, as ``reason xcount``.
        """
        return sorted(f"{event['reason']} x{event['count']}" for event in self.events)

    def requests(self, method: str) -> int:
        return sum(
            m == method and path.partition("?")[0].startswith(EVENTS)
            for m, path in self.server.requests
        )

    @property
    def writes(self) -> int:
        return self.requests("POST") + self.requests("PATCH")

    async def until(self, condition: Callable[[], bool], *, within: float = 5) -> None:
        try:
            async with asyncio.timeout(within):
                while not condition():
                    assert self.task is None or not self.task.done(), "the speaker ended"
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(
                f"{self.event_counts} {self.results} {reason_states(self.controller.evaluation)}"
            ) from None

    async def wait_for_events(self, *events: str, within: float = 5) -> None:
        """
        They stand in the cluster, and the speaker knows it.
        """
        under_way = self.publisher._queue._in_flight
        await self.until(
            lambda: self.event_counts == sorted(events) and not under_way, within=within
        )

    async def wait_for_writes(self, number: int) -> None:
        await self.until(lambda: self.writes == number)

    async def wait_for_result(self, result: str, number: int) -> None:
        await self.until(lambda: self.results[result] == number)

    async def wait_idle(self) -> None:
        """
        Wait until the speaker has nothing to do any more, which a negative needs to be worth anything.
        """
        still = 0
        async with asyncio.timeout(10):
            while still < 6:
                before = self.writes, self.requests("GET"), +self.results
                await asyncio.sleep(0.02)
                same = before == (self.writes, self.requests("GET"), +self.results)
                still = still + 1 if same else 0


@asynccontextmanager
async def running_publisher(
    server: EmbeddedServer, api: RestClient, **changes
) -> AsyncIterator[PublisherFixture]:
    """
    The speaker has judged once and runs; its own failure fails the test.
    """
    scene = PublisherFixture(server, api, **changes)
    scene.run_pass()
    task = scene.task = asyncio.create_task(scene.publisher.run())
    try:
        yield scene
        assert not task.done(), "the speaker ended"
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


# ------------------------------------------------------------ a wire that loses answers


class LossyConnection:
    """
    Carries bytes between a client and a server, and loses answers on demand.

    The next *lose* requests that match *asked* do arrive; of the answer nothing comes back: the
    connection is cut, or with *mute* just says nothing.
    """

    def __init__(self, port: int) -> None:
        self.lose, self.asked, self.mute, self.lost = 0, rb"^$", False, 0
        self.port = 0
        self._to = port

    def lose_answers(self, times: int, asked: bytes, *, mute: bool = False) -> None:
        self.lose, self.asked, self.mute = times, asked, mute

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_connection("127.0.0.1", self._to)
        doomed = False

        async def up() -> None:
            nonlocal doomed
            while data := await reader.read(65536):
                if self.lose and re.match(self.asked, data):
                    self.lose -= 1
                    doomed = True
                ours.write(data)
            ours.close()

        async def down() -> None:
            while data := await theirs.read(65536):
                if not doomed:
                    writer.write(data)
                    continue
                self.lost += 1
                if not self.mute:
                    break
            writer.close()

        try:
            async with asyncio.TaskGroup() as group:
                for way in (up(), down()):
                    group.create_task(way)
        except* OSError:
            pass
        finally:
            ours.close()
            writer.close()


@asynccontextmanager
async def a_lossy_connection(server: EmbeddedServer) -> AsyncIterator[LossyConnection]:
    wire = LossyConnection(server.port)
    async with await asyncio.start_server(wire.forward, "127.0.0.1", 0) as listening:
        wire.port = listening.sockets[0].getsockname()[1]
        yield wire


class ShortTimeoutApi(RestClient):
    """
    As the client, but it waits for an answer no longer than half a second.
    """

    def __init__(self, api: RestClient) -> None:
        self.api = api

    async def call(self, method, path, **given):
        return await self.api.call(method, path, timeout=timedelta(seconds=0.5), **given)
