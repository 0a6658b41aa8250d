"""A publisher whose Events are mirrored beside their InferenceSets."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from devcluster.server import DevCluster
from reporter.announcing.event_writer import EventWriteLog, EventWriter
from reporter.announcing.mirror import MirrorPlan
from reporter.catalogue.entries import Catalogue
from reporter.kube.client import RestClient
from reporter.kube.events import EventClient
from reporter.kube.leader_writer import LeaderWriter
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import InvolvedObject
from tests.integration.announcing.publisher_fixture import (
    MANY,
    PublisherFixture,
    running_publisher,
)
from tests.support.background import running_beside
from tests.support.builders import a_key


SETS = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i:02}") for i in range(12)]
PODS = [a_key("inferencesetPods", each) for each in SETS]
MIRRORS = "/namespaces/team-a/events"


class MirrorFixture:
    """
    A publisher with a mirror. *results* counts the requests of the mirror. *uids*: those of
    InferenceSets that were created anew. *faulty*: those that cannot be looked up, by a fault.
    """

    def __init__(self, fixture: PublisherFixture, api: RestClient) -> None:
        self.main = fixture
        self.results: Counter[str] = Counter()
        self.uids: dict[str, str] = {}
        self.faulty: set[str] = set()
        count = lambda result: self.results.update([result])  # noqa: E731
        sink = EventClient(api, "reporter-0")
        self.mirror = MirrorPlan(
            fixture.announcements, self._involved_for, EventWriteLog(count, is_quiet=True)
        )
        self.writer = LeaderWriter(
            self.mirror,
            EventWriter(sink, fixture.leadership, count_write=count).write,
            fixture.leadership,
            fixture.clock,
            jitter=lambda: 0.0,
            pause_after_fault=1.0,
        )

    def _involved_for(self, subject: Subject) -> InvolvedObject | None:
        name = subject.name
        if name in self.faulty:
            raise LookupError(name)
        if name == "model-11":
            return None  # it is not there any more
        uid = self.uids.get(name, f"uid-{name}")
        return InvolvedObject("kaito.sh/v1beta1", "InferenceSet", name, uid, subject.namespace)

    @property
    def events(self) -> list[dict]:
        return self.main.server.cluster.list("events", "team-a")

    @property
    def failures(self) -> list[int]:
        """The failed tries of each mirror that waits."""
        return [each.failures for each in self.writer._limits._backoffs.values()]

    @property
    def counts(self) -> list[str]:
        return sorted(
            f"{each['reason']} {each['involvedObject']['name']} x{each['count']}"
            for each in self.events
        )

    async def wait_for_mirrors(self, *counts: str) -> None:
        """Wait until these are the mirrors in the cluster and no write is in flight."""
        in_flight = self.writer._limits._in_flight
        await self.main.until(lambda: self.counts == sorted(counts) and not in_flight)


@asynccontextmanager
async def mirrored_publisher(
    server: DevCluster, api: RestClient, *, catalogue: Catalogue = MANY
) -> AsyncIterator[MirrorFixture]:
    server.cluster.upsert(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
    )
    async with running_publisher(server, api, catalogue=catalogue, subjects=SETS) as main:
        fixture = MirrorFixture(main, api)
        async with running_beside(fixture.writer.run(), "mirror"):
            yield fixture
