"""The store of a leader beside its Events, over real sockets, with a clock by hand."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from devcluster.server import DevCluster
from reporter.history.node_event_publisher import NodeEpisodeStore, NodeEventWriter
from reporter.history.store_plan import StorePlan
from reporter.history.writer import EpisodeBackend, HealthEventWriter
from reporter.kinds.health_events import (
    HEALTH_EVENTS,
    HealthEvent,
    StoreLimit,
    StoreLimits,
    StoreWriteResult,
)
from reporter.kinds.nvsentinel import NodeHealthEvent
from reporter.kube.client import RestClient
from reporter.kube.leader_writer import LeaderWriter
from reporter.kube.object_client import ObjectClient
from reporter.model.observations import Watching
from reporter.store.written_objects import WrittenObjectStore
from tests.integration.announcing.publisher_fixture import PublisherFixture, running_publisher
from tests.support.health_events import CRD, NAMESPACE
from tests.support.node_events import KIND, a_node_crd


class Report:
    """Counts what the store reports."""

    def __init__(self) -> None:
        self.results: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()

    def count_store_write(self, result: StoreWriteResult) -> None:
        self.results[result.value] += 1

    def count_rejected(self, limit: StoreLimit) -> None:
        self.rejected[limit.value] += 1


class StoreParts(NamedTuple):
    """
    The parts of a fixture that differ between backends. *watched*: the objects as their watch shows them.
    """

    watched: Any
    backend: EpisodeBackend


PartsFunc = Callable[[PublisherFixture, RestClient], StoreParts]


def own_parts(
    events: PublisherFixture,
    api: RestClient,
    client_type: type[ObjectClient] = ObjectClient,
) -> StoreParts:
    """Return the parts of ``--store=healthevents``."""
    kind = replace(HEALTH_EVENTS, namespace=NAMESPACE)
    objects = WrittenObjectStore(HealthEvent, lambda _: "v1alpha1")
    client = client_type(api, kind, HealthEvent)
    return StoreParts(objects, HealthEventWriter(client, objects, events.announcements, kind))


def node_parts(
    events: PublisherFixture,
    api: RestClient,
    client_type: type[ObjectClient] = ObjectClient,
) -> StoreParts:
    """Return the parts of ``--store=nvsentinel``."""
    watched = WrittenObjectStore(NodeHealthEvent, lambda _: "v1")
    objects = NodeEpisodeStore(watched)
    client = client_type(api, KIND, NodeHealthEvent)
    return StoreParts(
        watched, NodeEventWriter(client, objects, events.announcements, KIND, events.clock.now)
    )


class StoreFixture:
    """*events*: the publisher of Events, whose episodes are kept."""

    def __init__(
        self,
        events: PublisherFixture,
        api: RestClient,
        limits: StoreLimits | None = None,
        parts: PartsFunc = own_parts,
    ) -> None:
        self.events, self.server, self.clock = events, events.server, events.clock
        self.report = Report()
        self.rejections: list[Mapping[str, StoreLimit]] = []
        self.objects, backend = parts(events, api)
        self.kind, existing = backend.kind, backend.objects
        self.plan = StorePlan(
            backend,
            events.announcements,
            limits or StoreLimits(),
            report=self.report,
            on_rejections=self.rejections.append,
        )
        self.writer = LeaderWriter(
            self.plan, backend.write, events.leadership, self.clock, jitter=lambda: 0.0
        )
        self.task: asyncio.Task | None = None
        self.listed()
        events.announcements.restore_from(existing)

    # ------------------------------------------------------------ what happens

    def listed(self) -> None:
        """Show the objects of the cluster, as a list and a watch do."""
        found = [msgspec.convert(each, self.kind.type) for each in self.existing]
        for _ in self.objects.replace_in_batches(self.kind, found, {}):
            pass
        self.objects.set_watch_state(self.kind, Watching())

    async def advance(self, seconds: float) -> None:
        self.events.advance(seconds)
        await asyncio.sleep(0)

    # ------------------------------------------------------------ what is seen

    @property
    def is_up(self) -> bool:
        return self.plan.is_up and not self.writer.is_faulty

    @property
    def existing(self) -> list[dict]:
        return self.server.cluster.list(self.kind.group_resource, NAMESPACE)

    def phases(self) -> list[str]:
        return sorted(
            f"{each['spec']['checkName']} {each.get('status', {}).get('phase', 'Active')}"
            for each in self.existing
        )

    def writes(self, method: str) -> int:
        return sum(
            sent == method and f"/{self.kind.resource}" in path
            for sent, path in self.server.requests
        )

    async def until_phases(self, *phases: str) -> None:
        await self.events.until(lambda: self.phases() == sorted(phases), within=30)

    async def until_result(self, result: str, number: int = 1) -> None:
        await self.events.until(lambda: self.report.results[result] >= number, within=30)


@asynccontextmanager
async def running_store(
    server: DevCluster,
    api: RestClient,
    limits: StoreLimits | None = None,
    parts: PartsFunc = own_parts,
    **changes,
) -> AsyncIterator[StoreFixture]:
    """Run both publishers of a leader; the end of either fails the test."""
    for crd in (CRD, a_node_crd()):
        server.cluster.upsert(crd)
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    server.cluster.upsert(space)
    async with running_publisher(server, api, **changes) as events:
        fixture = StoreFixture(events, api, limits, parts)
        task = fixture.task = asyncio.create_task(fixture.writer.run())
        try:
            yield fixture
            assert not task.done(), "the publisher ended"
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
