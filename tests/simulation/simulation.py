"""
A cluster, its API server and two replicas of the reporter, with all that may go wrong between them.
"""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import Self

from reporter.model.kinds import KINDS, ResourceKind
from tests.simulation.agenda import Agenda
from tests.simulation.apiserver import Events, Leases
from tests.simulation.arriving import Arriving
from tests.simulation.cluster import Cluster
from tests.simulation.network import Weather
from tests.simulation.replica import Outside, Replica
from tests.simulation.rest import Rest
from tests.simulation.sending import Sending
from tests.simulation.truth import Truth


SOON, LATER, LAST = 360.0, 960.0, 3600.0
"""
Seconds after which what lasts must be announced, by its hold; the longest is 45 minutes.
"""

TTL = 7200.0


class Simulation:
    """
    All chance comes from *seed*. *skews*: of the replicas' clocks, in seconds. *resync*: seconds
    between their full passes, which mend what was missed.
    """

    def __init__(
        self, seed: int, skews: tuple[float, ...] = (0.0, 0.0), *, resync: float = 60.0
    ) -> None:
        self.random = Random(seed)
        self.agenda = Agenda()
        self.cluster = Cluster(self.agenda)
        self.truth = Truth(self.cluster)
        self.events, self.leases = Events(self.agenda), Leases()
        self.replicas: list[Replica] = []
        self.dead: list[Replica] = []
        self.sending = Sending(self.truth, self.replicas)
        self.arriving = Arriving(self.events, self.sending)
        self.events.heard = self.arriving
        self.outside = Outside(
            self.agenda,
            self.random,
            self.cluster,
            self.events,
            self.leases,
            self.sending,
            timedelta(seconds=resync),
        )
        self.steps = 0
        for number, skew in enumerate(skews):
            self.replicas.append(Replica(self.outside, f"reporter-{number}", skew))
        self.after(20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for replica in (*self.replicas, *self.dead):
            replica.life.end()

    def after(self, seconds: float) -> None:
        """
        Let time pass, from one moment at which something happens to the next.
        """
        end = self.agenda.now + seconds
        while True:
            self._step()
            moment = min(self.agenda.next, *(each.wakes for each in self.replicas))
            if moment > end:
                break
            self.agenda.now = max(moment, self.agenda.now)
        self.agenda.now = end

    def _step(self) -> None:
        self.agenda.act()
        for replica in self.replicas:
            if replica.wakes <= self.agenda.now:
                replica.step()
                self.steps += 1
        if self.sending.broken:
            raise self.sending.broken[0]

    # ------------------------------------------------------------ what may go wrong

    def begin(self, trouble: str) -> None:
        self.cluster.begin(trouble)

    def end(self, trouble: str) -> None:
        self.cluster.end(trouble)

    def end_all(self) -> None:
        for trouble in tuple(self.cluster.troubles):
            self.end(trouble)

    def storm(self, number: int, weather: Weather, seconds: float) -> None:
        network = self.replicas[number].network
        network.weather = weather
        self.agenda.after(seconds, lambda: setattr(network, "weather", Weather.FAIR))

    def cut(self, number: int, kinds: tuple[ResourceKind, ...], seconds: float) -> None:
        self._lose(number, kinds, seconds)

    def forbid(self, number: int, kinds: tuple[ResourceKind, ...], seconds: float) -> None:
        self._lose(number, kinds, seconds, forbidden=True)

    def _lose(
        self,
        number: int,
        kinds: tuple[ResourceKind, ...],
        seconds: float,
        *,
        forbidden: bool = False,
    ) -> None:
        watching = self.replicas[number].watching
        for kind in kinds:
            watching.lose(kind, forbidden=forbidden)
            self.agenda.after(seconds, partial(watching.reopen, kind))

    def part(self, number: int, seconds: float) -> None:
        """
        Nothing gets through between a replica and the API server.
        """
        watching = self.replicas[number].watching
        watching.discovers = False
        self.agenda.after(seconds, lambda: setattr(watching, "discovers", True))
        self.storm(number, Weather.GONE, seconds)
        self.cut(number, KINDS, seconds)

    def be_late(self, number: int, seconds: float) -> None:
        self.replicas[number].watching.late = seconds

    def pause(self, number: int, seconds: float) -> None:
        replica = self.replicas[number]
        replica.stopped = True
        self.agenda.after(seconds, replica.go_on)

    def kill(self, number: int, seconds: float) -> None:
        self.replicas[number].kill()
        self._replace(number, seconds)

    def stop(self, number: int, seconds: float) -> None:
        self.replicas[number].stopped = False
        self.replicas[number].stop()
        self._replace(number, max(seconds, 6.0))

    def _replace(self, number: int, seconds: float) -> None:
        old = self.replicas[number]

        def begin() -> None:
            if self.replicas[number] is old:
                old.kill()
                self.dead.append(old)
                forbidden = frozenset(old.watching.forbidden)
                self.replicas[number] = Replica(self.outside, old.name, old.skew, forbidden)

        self.agenda.after(seconds, begin)

    def delete_an_event(self) -> None:
        names = sorted(self.events.objects)
        if names:
            self.events.delete(self.random.choice(names))

    def let_events_live(self, seconds: float) -> None:
        self.events.ttl = seconds

    def delete_the_lease(self) -> None:
        self.leases.record = None

    def steal_the_lease(self) -> None:
        before, lease = self.leases.record, timedelta(seconds=15)
        if before is not None:
            self.leases.record = replace(before, holder="somebody", duration=lease)
            self.leases.version += 1

    # ------------------------------------------------------------ what must come of it

    def rest(self) -> None:
        """
        All faults end, nothing changes any more, and what is true must be what is said.
        """
        self.events.ttl = TTL
        for name in [each for each in self.cluster.troubles if "not looked at" in each]:
            self.end(name)
        for number, replica in enumerate(self.replicas):
            if not replica.alive:
                self._replace(number, 0.0)
            replica.stopped = False
            replica.network.weather = Weather.FAIR
            replica.watching.discovers = True
            replica.watching.late = 0.2
            for kind in tuple(replica.watching.cut):
                replica.watching.reopen(kind)
        since = self.agenda.now
        for seconds in (SOON, LATER, LAST):
            self.after(since + seconds - self.agenda.now)
            rest = Rest(self.truth, self.arriving, since)
            rest.holds()
            if seconds > SOON and rest.is_all_decided:
                break
