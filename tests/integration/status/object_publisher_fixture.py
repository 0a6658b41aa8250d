"""
A publisher of status objects over real sockets: roll-ups of the example stack, and a clock by hand.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

import msgspec
from msgspec.structs import replace

from devcluster.server import DevCluster
from reporter.kinds.productionstack import (
    PRODUCTION_STACK_STATUSES,
    ProductionStackStatus,
)
from reporter.kube.client import RestClient
from reporter.kube.leader_writer import LeaderWriter
from reporter.kube.object_client import ObjectClient
from reporter.model.observations import Watching
from reporter.process.subscribers import Subscribers
from reporter.rollup.desired import GENERATION_SETTLE
from reporter.rollup.document import StatusView
from reporter.rollup.records import RollUp
from reporter.status.object_plan import StatusObjectPlan, write_status
from reporter.status.stack_statuses import StackStatuses
from reporter.store.written_objects import WrittenObjectStore
from tests.integration.announcing.publisher_fixture import ManualClock, ManualLeadership
from tests.support.background import running_beside
from tests.support.status_objects import CRD, STATUSES, manifest, stack_without_pages


class RollUps:
    """A roll-up that tests replace; *broken* makes it fail."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.changes: Subscribers[[]] = Subscribers()
        self.replay, self.broken = stack_without_pages(), False
        self.rollup = RollUp()

    def view(self) -> StatusView:
        if self.broken:
            raise RuntimeError("the roll-up is broken")
        return StatusView(self.rollup, self.replay.rollup_rules, now=self._clock.now())

    def show(self, change: dict | None = None) -> None:
        """Show the roll-up of the stack after a change, as of now."""
        self.replay = stack_without_pages(change)
        found, revision = self.replay.rollup, self.rollup.revision + 1
        namespaces = {
            name: msgspec.structs.replace(each, revision=revision)
            for name, each in found.namespaces.items()
        }
        evaluation = replace(found.evaluation, evaluated_at=self._clock.now())
        self.rollup = replace(
            found, namespaces=namespaces, evaluation=evaluation, revision=revision
        )
        self.changes.notify()


class ObjectPublisherFixture:
    """*results* counts the results of its requests."""

    def __init__(self, server: DevCluster, api: RestClient) -> None:
        self.server, self.clock, self.leadership = server, ManualClock(), ManualLeadership()
        self.results: Counter[str] = Counter()
        self.objects = WrittenObjectStore(ProductionStackStatus, lambda _: "v1alpha1")
        self.objects.set_watch_state(PRODUCTION_STACK_STATUSES, Watching())
        self.rollups = RollUps(self.clock)
        self.plan = StatusObjectPlan(
            self.objects,
            self.rollups,
            StackStatuses("kaito-system", resync=timedelta(minutes=1)),
            kind=PRODUCTION_STACK_STATUSES,
            count_write=lambda result: self.results.update([result]),
        )
        client = ObjectClient(api, PRODUCTION_STACK_STATUSES, ProductionStackStatus)
        self.writer = LeaderWriter(
            self.plan,
            partial(write_status, client),
            self.leadership,
            self.clock,
            jitter=lambda: 0.0,
        )
        self.task: asyncio.Task | None = None

    # ------------------------------------------------------------ what happens

    def create(self, *names: str, namespace: str = "team-m", **spec) -> None:
        """Create objects that the watch delivers at once."""
        for name in names:
            self.server.cluster.upsert(manifest(namespace, name, **spec))
        self.deliver()

    def deliver(self) -> None:
        """Bring the store up to date, as the watch does a moment after each change."""
        kind = PRODUCTION_STACK_STATUSES
        found = [
            msgspec.convert(each, ProductionStackStatus)
            for each in self.server.cluster.list(STATUSES)
        ]
        for _ in self.objects.replace_in_batches(kind, found, {}):
            pass

    async def settle(self) -> None:
        """
        Wait for a first look, and let the time pass that a new generation waits from then on.
        """
        await self.until(self.are_seen)
        await self.advance(GENERATION_SETTLE)

    async def settle_unseen(self) -> None:
        """Let as much time pass where nothing is looked at."""
        await asyncio.sleep(0.5)
        assert not self.plan._looks
        await self.advance(GENERATION_SETTLE)

    async def advance(self, span: timedelta | float) -> None:
        self.clock.advance(span)
        self.objects.set_watch_state(PRODUCTION_STACK_STATUSES, Watching())
        self.objects.changes.notify()
        await asyncio.sleep(0.3)

    # ------------------------------------------------------------ what is seen

    @property
    def failing(self) -> int:
        return self.plan.count_failing(self.writer)

    def are_seen(self) -> bool:
        """Return whether a look has seen each object as it is in the store."""
        looks = self.plan._looks
        objects = self.objects.objects.items()
        return all(name in looks and looks[name].found is each for name, each in objects)

    def status(self, name: str = "package", namespace: str = "team-m") -> dict:
        found = self.server.cluster.get(STATUSES, namespace, name) or {}
        return found.get("status") or {}

    def state(self, name: str = "package") -> str:
        return self.status(name).get("state", "")

    async def until(self, condition: Callable[[], bool], *, within: float = 30) -> None:
        try:
            async with asyncio.timeout(within):
                while not condition():
                    assert self.task is None or not self.task.done(), "the publisher ended"
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{self.results} {self.status()}") from None

    async def until_written(self, state: str, number: int) -> None:
        """Wait until the object has a state, and for the answers to all writes."""
        await self.until(lambda: self.state() == state and self.results["written"] >= number)
        assert self.results["written"] == number


@asynccontextmanager
async def running_object_publisher(
    server: DevCluster, api: RestClient
) -> AsyncIterator[ObjectPublisherFixture]:
    """Run the publisher of a leader before its first pass; its end fails the test."""
    server.cluster.upsert(CRD)
    fixture = ObjectPublisherFixture(server, api)
    async with running_beside(fixture.writer.run(), "publisher") as fixture.task:
        yield fixture
