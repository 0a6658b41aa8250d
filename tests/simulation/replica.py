"""
One process of the reporter: the real store, controller, speaker and elector, with a loop of their own.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from reporter.model.events import EventRecord
from reporter.model.kinds import KINDS, ResourceKind
from reporter.runtime.controller import Controller
from reporter.runtime.elector import Elector
from reporter.runtime.speaker import Speaker
from reporter.stages import election
from reporter.stages.judgement import Terms
from reporter.stages.pipeline import Court
from reporter.stages.probes import PROBES
from reporter.stages.store import Store
from tests.play import home
from tests.shipped import CATALOGUE, FLAGS
from tests.simulation.agenda import Agenda, Life
from tests.simulation.apiserver import Events, EventWire, Leases, LeaseWire
from tests.simulation.cluster import Cluster
from tests.simulation.network import Network
from tests.simulation.troubles import CRDS
from tests.simulation.watching import Watching


COURT = Court(CATALOGUE, PROBES, FLAGS, Terms())


@dataclass
class Wrong:
    """
    A clock that differs from the server's by *skew* seconds.
    """

    agenda: Agenda
    skew: float

    def now(self) -> datetime:
        return self.agenda.wall + timedelta(seconds=self.skew)


@dataclass(frozen=True)
class Outside:
    """
    All that replicas share. *sending*: told of each write at the moment at which it is sent, and of
    each time that a replica reads back what was said before.
    """

    agenda: Agenda
    random: Random
    cluster: Cluster
    events: Events
    leases: Leases
    sending: Callable[["Replica", EventRecord | None], None]
    resync: timedelta


@dataclass
class Replica:
    outside: Outside
    name: str
    skew: float
    forbidden: frozenset[ResourceKind] = frozenset()
    stopped: bool = False
    alive: bool = True
    inbox: list[Callable[[], None]] = field(default_factory=list)
    born: float = 0.0
    deaf: float = 0.0

    def __post_init__(self) -> None:
        out = self.outside
        self.born = out.agenda.now
        self.clock = Wrong(out.agenda, self.skew)
        self.network = Network(out.agenda, out.random, deliver=self._receive)
        self.life = Life(out.agenda)
        self.store = Store(KINDS, CRDS)
        self.watching = Watching(
            out.cluster, self.store, out.random, deliver=self._receive, wall=self.clock.now
        )
        self.watching.forbidden |= self.forbidden
        self.watching.cut |= self.forbidden
        self._start()
        self.watching.begin()

    def _start(self) -> None:
        async def begin() -> None:
            self._wire()

        task = self.life.loop.create_task(begin())
        self.life.step()
        task.result()

    def _wire(self) -> None:
        out, loop = self.outside, self.life.loop
        self.controller = Controller(
            self.store,
            COURT,
            self.clock,
            resync=out.resync,
            home=lambda _, subject: home(subject),
        )
        self.elector = Elector(
            LeaseWire(out.leases, self.network),
            election.Terms(),
            me=self.identity,
            wall=self.clock.now,
            draw=out.random.random,
        )
        book = EventWire(
            out.events, self.network, self.name, sending=lambda record: out.sending(self, record)
        )
        self.speaker = Speaker(
            self.controller,
            book,
            self.elector,
            self.clock,
            wrote=lambda _: None,
            draw=out.random.random,
        )
        roots = self.speaker.run(), self.elector.run(), self.controller.run()
        self.tasks = [loop.create_task(root) for root in roots]

    @property
    def identity(self) -> str:
        return f"{self.name}_{self.born}"

    def has_seen(self, kinds: Iterable[ResourceKind], since: float) -> bool:
        """
        Whether none of these kinds was out of its sight since then.
        """
        return all(self.watching.has_seen(kind, since) for kind in kinds)

    # ------------------------------------------------------------ its life

    def _receive(self, act: Callable[[], None]) -> None:
        if self.alive:
            self.inbox.append(act)

    @property
    def wakes(self) -> float:
        if self.stopped or not self.alive:
            return float("inf")
        reads = max(self.deaf, self.outside.agenda.now) if self.inbox else float("inf")
        return min(reads, self.life.wakes)

    def go_on(self) -> None:
        """
        After a pause its timers ring, and what had arrived is read a moment later.
        """
        self.stopped = False
        self.deaf = self.outside.agenda.now + self.outside.random.uniform(0, 0.3)

    def step(self) -> None:
        if self.outside.agenda.now >= self.deaf:
            for act in self.inbox:
                self.life.loop.call_soon(act)
            self.inbox.clear()
        self.life.step()
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.result()

    def kill(self) -> None:
        """
        It ends at once; what it has sent is under way.
        """
        if self.alive:
            self.alive = False
            self.watching.end()

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
