"""
One process of the reporter: the real store, controller, publisher and elector on one event loop.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from reporter.announcing.announcements import Announcements
from reporter.announcing.earlier_events import NOT_READ, EarlierEvents
from reporter.announcing.event_plan import EventPlan
from reporter.announcing.event_writer import EventWriteLog, EventWriter
from reporter.controller.controller import Controller
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube import lease_rules as rules
from reporter.kube.elector import Elector
from reporter.kube.event_record import EventRecord
from reporter.kube.leader_writer import LeaderWriter
from reporter.store.store import Store
from tests.simulation.apiserver import (
    EventStore,
    LeaseStore,
    SimulatedEventClient,
    SimulatedLeaseLock,
)
from tests.simulation.cluster import SimulatedCluster
from tests.simulation.network import SimulatedNetwork
from tests.simulation.silencing import SimulatedSilence
from tests.simulation.simulated_watches import SimulatedWatches
from tests.simulation.troubles import CRDS
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS, SUBJECTS
from tests.support.replay import involved_for
from tests.support.virtual_clock import VirtualClock, VirtualEventLoop


EVALUATOR = Evaluator(DEFAULT_CATALOGUE, PROBES, DEFAULT_FLAGS, EvaluationSettings())


@dataclass
class SkewedClock:
    """A clock that differs from the server's by *skew* seconds."""

    clock: VirtualClock
    skew: float

    def now(self) -> datetime:
        return self.clock.wall_time + timedelta(seconds=self.skew)

    def seconds_until(self, moment: datetime) -> float:
        return max((moment - self.now()).total_seconds(), 0.0)


@dataclass(frozen=True)
class SharedEnvironment:
    """
    Everything that the replicas share.

    *on_send*: called with each Event when it is sent, and with None when a replica reads Events back.
    *silences*: the last one is in effect, until it ends.
    """

    clock: VirtualClock
    random: Random
    cluster: SimulatedCluster
    events: EventStore
    leases: LeaseStore
    on_send: Callable[["Replica", EventRecord | None], None]
    resync: timedelta
    silences: list[SimulatedSilence] = field(default_factory=list)


@dataclass
class Replica:
    """
    One process. A stopped one is paused, and resumes; one that is not alive has ended, and one that is
    stopping is about to.

    *inbox*: callbacks from the network and the watches, which the process has not run yet.
    *silence*: the one that it has read, at the time *silenced_at*.
    """

    environment: SharedEnvironment
    name: str
    skew: float
    forbidden: frozenset[ResourceKind] = frozenset()
    stopped: bool = False
    stopping: bool = False
    alive: bool = True
    inbox: list[Callable[[], None]] = field(default_factory=list)
    started_at: float = 0.0
    reads_inbox_from: float = 0.0
    silence: SimulatedSilence | None = None
    silenced_at: float = 0.0

    def __post_init__(self) -> None:
        environment = self.environment
        self.started_at = environment.clock.now
        self.clock = SkewedClock(environment.clock, self.skew)
        self.network = SimulatedNetwork(
            environment.clock, environment.random, deliver=self._receive
        )
        self.event_loop = VirtualEventLoop(environment.clock)
        self.store = Store(DEFAULT_KINDS, CRDS, subjects=SUBJECTS)
        self.watches = SimulatedWatches(
            environment.cluster,
            self.store,
            environment.random,
            deliver=self._receive,
            wall=self.clock.now,
        )
        if environment.silences:
            self._read_silence()
        self.watches.forbidden |= self.forbidden
        self.watches.cut |= self.forbidden
        self._start()
        self.watches.start()

    def _start(self) -> None:
        async def begin() -> None:
            self._build()

        task = self.event_loop.loop.create_task(begin())
        self.event_loop.run_until_idle()
        task.result()

    def _build(self) -> None:
        environment, loop = self.environment, self.event_loop.loop
        announcements = Announcements(
            EVALUATOR.catalogue,
            EVALUATOR.settings,
            self.clock,
            involved_for=lambda _, subject: involved_for(subject),
        )
        self.controller = Controller(
            self.store, EVALUATOR, announcements, self.clock, resync=environment.resync
        )
        self.lock = SimulatedLeaseLock(environment.leases, self.network)
        self.elector = Elector(
            self.lock,
            rules.LeaseTiming(),
            identity=self.identity,
            wall_clock=self.clock.now,
            jitter=environment.random.random,
        )
        client = SimulatedEventClient(
            environment.events,
            self.network,
            self.name,
            on_send=lambda record: environment.on_send(self, record),
        )
        earlier, before_term = (
            EarlierEvents(announcements, client, self.clock, jitter=environment.random.random)
            for _ in range(2)
        )
        writer = LeaderWriter(
            EventPlan(announcements, before_term, EventWriteLog(lambda _: None)),
            EventWriter(client, self.elector, count_write=lambda _: None).write,
            self.elector,
            self.clock,
            jitter=environment.random.random,
        )
        announcements.await_events(NOT_READ)
        roots = writer.run(), self.elector.run(), self.controller.run()
        self.tasks = [loop.create_task(root) for root in (*roots, earlier.remember())]

    @property
    def identity(self) -> str:
        return f"{self.name}_{self.started_at}"

    def read_silence(self) -> None:
        """Read the file of silences again, as soon as the process runs."""
        self._receive(self._read_silence)

    def _read_silence(self) -> None:
        self.silence = self.environment.silences[-1]
        self.silenced_at = self.environment.clock.now
        self.store.record_silence_file(self.silence.file)

    def has_watched(self, kinds: Iterable[ResourceKind], since: float) -> bool:
        """Return whether all of these kinds were watched since then."""
        return all(self.watches.was_watched_since(kind, since) for kind in kinds)

    # ------------------------------------------------------------ start and end

    def _receive(self, callback: Callable[[], None]) -> None:
        if self.alive:
            self.inbox.append(callback)

    @property
    def next_wakeup(self) -> float:
        if self.stopped or not self.alive:
            return float("inf")
        reads = (
            max(self.reads_inbox_from, self.environment.clock.now) if self.inbox else float("inf")
        )
        return min(reads, self.event_loop.next_timer)

    def resume(self) -> None:
        """
        Resume after a pause: timers fire at once, and what had arrived is read a moment later.
        """
        self.stopped = False
        self.reads_inbox_from = self.environment.clock.now + self.environment.random.uniform(
            0, 0.3
        )

    def run_until_idle(self) -> None:
        if self.environment.clock.now >= self.reads_inbox_from:
            for callback in self.inbox:
                self.event_loop.loop.call_soon(callback)
            self.inbox.clear()
        self.event_loop.run_until_idle()
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.result()

    def kill(self) -> None:
        """End the process at once; what it has sent is under way."""
        if self.alive:
            self.alive = False
            self.watches.stop()

    def stop(self) -> None:
        """Stop as on SIGTERM: the lease is released after the last write."""

        async def end() -> None:
            publisher, elector, controller = self.tasks[:3]
            for task in (publisher, elector):
                task.cancel()
                await asyncio.wait([task])
            await self.elector.release()
            controller.cancel()
            await asyncio.wait([controller])
            self.kill()

        self.stopping = True
        self._receive(lambda: self.tasks.append(self.event_loop.loop.create_task(end())))
