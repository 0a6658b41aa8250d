"""
One process of the reporter: the real store, controller, speaker and elector, with a loop of their own.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from reporter.model.event_record import EventRecord
from reporter.model.kinds.resource_kinds import DEFAULT_KINDS, ResourceKind
from reporter.runtime.announcing.announcements import Announcements
from reporter.runtime.announcing.publisher import EventPublisher
from reporter.runtime.controller import Controller
from reporter.runtime.leaderelection import rules
from reporter.runtime.leaderelection.elector import Elector
from reporter.stages.evaluation.evaluation import EvaluationSettings
from reporter.stages.pipeline import Evaluator
from reporter.stages.probes import PROBES
from reporter.stages.store.store import Store
from tests.simulation.apiserver import (
    EventStore,
    LeaseStore,
    SimulatedEventClient,
    SimulatedLeaseLock,
)
from tests.simulation.cluster import SimulatedCluster
from tests.simulation.network import SimulatedNetwork
from tests.simulation.simulated_watches import SimulatedWatches
from tests.simulation.troubles import CRDS
from tests.simulation.virtual_clock import VirtualClock, VirtualEventLoop
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.replay import involved_for


EVALUATOR = Evaluator(DEFAULT_CATALOGUE, PROBES, DEFAULT_FLAGS, EvaluationSettings())


@dataclass
class SkewedClock:
    """
    A clock that differs from the server's by *skew* seconds.
    """

    clock: VirtualClock
    skew: float

    def now(self) -> datetime:
        return self.clock.wall_time + timedelta(seconds=self.skew)


@dataclass(frozen=True)
class SharedEnvironment:
    """
    All that replicas share. *sending*: told of each write at the moment at which it is sent, and of
    each time that a replica reads back what was said before.
    """

    clock: VirtualClock
    random: Random
    cluster: SimulatedCluster
    events: EventStore
    leases: LeaseStore
    on_send: Callable[["Replica", EventRecord | None], None]
    resync: timedelta


@dataclass
class Replica:
    environment: SharedEnvironment
    name: str
    skew: float
    forbidden: frozenset[ResourceKind] = frozenset()
    stopped: bool = False
    alive: bool = True
    inbox: list[Callable[[], None]] = field(default_factory=list)
    started_at: float = 0.0
    reads_again_at: float = 0.0

    def __post_init__(self) -> None:
        out = self.environment
        self.started_at = out.clock.now
        self.clock = SkewedClock(out.clock, self.skew)
        self.network = SimulatedNetwork(out.clock, out.random, deliver=self._receive)
        self.life = VirtualEventLoop(out.clock)
        self.store = Store(DEFAULT_KINDS, CRDS)
        self.watching = SimulatedWatches(
            out.cluster, self.store, out.random, deliver=self._receive, wall=self.clock.now
        )
        self.watching.forbidden |= self.forbidden
        self.watching.cut |= self.forbidden
        self._start()
        self.watching.start()

    def _start(self) -> None:
        async def begin() -> None:
            self._build()

        task = self.life.loop.create_task(begin())
        self.life.run_until_idle()
        task.result()

    def _build(self) -> None:
        out, loop = self.environment, self.life.loop
        announcements = Announcements(
            EVALUATOR.catalogue,
            EVALUATOR.settings,
            self.clock,
            involved_for=lambda _, subject: involved_for(subject),
        )
        self.controller = Controller(
            self.store, EVALUATOR, announcements, self.clock, resync=out.resync
        )
        self.elector = Elector(
            SimulatedLeaseLock(out.leases, self.network),
            rules.LeaseTiming(),
            identity=self.identity,
            wall_clock=self.clock.now,
            jitter=out.random.random,
        )
        book = SimulatedEventClient(
            out.events, self.network, self.name, on_send=lambda record: out.on_send(self, record)
        )
        self.speaker = EventPublisher(
            announcements,
            book,
            self.elector,
            self.clock,
            count_write=lambda _: None,
            jitter=out.random.random,
        )
        roots = self.speaker.run(), self.elector.run(), self.controller.run()
        self.tasks = [loop.create_task(root) for root in roots]

    @property
    def identity(self) -> str:
        return f"{self.name}_{self.started_at}"

    def has_watched(self, kinds: Iterable[ResourceKind], since: float) -> bool:
        """
        Whether none of these kinds was out of its sight since then.
        """
        return all(self.watching.was_watched_since(kind, since) for kind in kinds)

    # ------------------------------------------------------------ its life

    def _receive(self, act: Callable[[], None]) -> None:
        if self.alive:
            self.inbox.append(act)

    @property
    def next_wakeup(self) -> float:
        if self.stopped or not self.alive:
            return float("inf")
        reads = (
            max(self.reads_again_at, self.environment.clock.now) if self.inbox else float("inf")
        )
        return min(reads, self.life.wakes)

    def resume(self) -> None:
        """
        After a pause its timers ring, and what had arrived is read a moment later.
        """
        self.stopped = False
        self.reads_again_at = self.environment.clock.now + self.environment.random.uniform(0, 0.3)

    def run_until_idle(self) -> None:
        if self.environment.clock.now >= self.reads_again_at:
            for act in self.inbox:
                self.life.loop.call_soon(act)
            self.inbox.clear()
        self.life.run_until_idle()
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.result()

    def kill(self) -> None:
        """
        It ends at once; what it has sent is under way.
        """
        if self.alive:
            self.alive = False
            self.watching.stop()

    def stop(self) -> None:
        """
        SIGTERM: the lease is given back after the last write is over.
        """

        async def end() -> None:
            speaking, electing, judging = self.tasks[:3]
            for task in (speaking, electing):
                task.cancel()
                await asyncio.wait([task])
            await self.elector.release()
            judging.cancel()
            await asyncio.wait([judging])
            self.kill()

        self._receive(lambda: self.tasks.append(self.life.loop.create_task(end())))
