"""
The store of a leader beside its Events, over real sockets, with a clock by hand.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import msgspec

from reporter.embedded.server import EmbeddedServer
from reporter.kube.client.client import RestClient
from reporter.kube.objects.event_names import health_event_name
from reporter.kube.objects.health_events import HealthEventClient
from reporter.model.kinds.productionstack.health_event_writes import (
    StoreLimit,
    StoreLimits,
    StoreWriteResult,
)
from reporter.model.kinds.productionstack.health_events import HEALTH_EVENTS, HealthEvent
from reporter.model.observations import Watching
from reporter.runtime.healthevents.planner import StorePlanner
from reporter.runtime.healthevents.publisher import HealthEventPublisher
from reporter.runtime.healthevents.writer import HealthEventWriter
from reporter.stages.store.written_objects import WrittenObjectStore
from tests.integration.announcing.publisher_fixture import PublisherFixture, running_publisher
from tests.support.health_events import CRD, NAMESPACE, RESOURCE


class Report:
    """
    Counts what the store reports.
    """

    def __init__(self) -> None:
        self.results: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()

    def count_store_write(self, result: StoreWriteResult) -> None:
        self.results[result.value] += 1

    def count_rejected(self, limit: StoreLimit) -> None:
        self.rejected[limit.value] += 1


class StoreFixture:
    """
    *events*: the publisher of Events, whose episodes are kept.
    """

    def __init__(
        self, events: PublisherFixture, api: RestClient, limits: StoreLimits | None = None
    ) -> None:
        self.events, self.server, self.clock = events, events.server, events.clock
        self.kind = replace(HEALTH_EVENTS, namespace=NAMESPACE)
        self.objects = WrittenObjectStore(HealthEvent, lambda _: "v1alpha1")
        self.report = Report()
        self.rejections: list[Mapping[str, StoreLimit]] = []
        self.publisher = HealthEventPublisher(
            self.objects,
            events.announcements,
            StorePlanner(
                self.objects, events.announcements, limits or StoreLimits(), health_event_name
            ),
            HealthEventWriter(
                HealthEventClient(api, self.kind, HealthEvent),
                self.objects,
                events.announcements,
                self.kind,
            ),
            events.leadership,
            self.clock,
            kind=self.kind,
            report=self.report,
            on_rejections=self.rejections.append,
            jitter=lambda: 0.0,
        )
        self.task: asyncio.Task | None = None
        self.listed()

    # ------------------------------------------------------------ what happens

    def listed(self) -> None:
        """
        Show the objects of the cluster, as a list and a watch do.
        """
        found = [msgspec.convert(each, HealthEvent) for each in self.held]
        for _ in self.objects.replace_in_batches(self.kind, found, {}):
            pass
        self.objects.set_watch_state(self.kind, Watching())

    async def advance(self, seconds: float) -> None:
        self.events.advance(seconds)
        await asyncio.sleep(0)

    # ------------------------------------------------------------ what is seen

    @property
    def held(self) -> list[dict]:
        return self.server.cluster.list(RESOURCE, NAMESPACE)

    def phases(self) -> list[str]:
        return sorted(
            f"{each['spec']['checkName']} {each.get('status', {}).get('phase', 'Active')}"
            for each in self.held
        )

    def writes(self, method: str) -> int:
        return sum(
            sent == method and "/healthevents" in path for sent, path in self.server.requests
        )

    async def until_phases(self, *phases: str) -> None:
        await self.events.until(lambda: self.phases() == sorted(phases), within=30)

    async def until_result(self, result: str, number: int = 1) -> None:
        await self.events.until(lambda: self.report.results[result] >= number, within=30)


@asynccontextmanager
async def running_store(
    server: EmbeddedServer, api: RestClient, limits: StoreLimits | None = None, **changes
) -> AsyncIterator[StoreFixture]:
    """
    Run both publishers of a leader; the end of either fails the test.
    """
    server.cluster.upsert(CRD)
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    server.cluster.upsert(space)
    async with running_publisher(server, api, **changes) as events:
        fixture = StoreFixture(events, api, limits)
        task = fixture.task = asyncio.create_task(fixture.publisher.run())
        try:
            yield fixture
            assert not task.done(), "the publisher ended"
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
