"""
Simulate a cluster, its API server and two replicas of the reporter, with faults between them.
"""

from datetime import timedelta
from functools import partial
from random import Random
from typing import Self

from msgspec.structs import replace

from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.resource_kind import ResourceKind
from tests.simulation.apiserver import EventStore, LeaseStore
from tests.simulation.cluster import SimulatedCluster
from tests.simulation.delivery_checker import DeliveryChecker
from tests.simulation.final_state_checker import FinalStateChecker
from tests.simulation.ground_truth import GroundTruth
from tests.simulation.network import NetworkCondition
from tests.simulation.replica import Replica, SharedEnvironment
from tests.simulation.send_checker import SendChecker
from tests.simulation.silencing import SimulatedSilence
from tests.support.virtual_clock import VirtualClock


SHORT_REST, LONG_REST, LONGEST_REST = 360.0, 960.0, 3600.0
"""The seconds after which lasting trouble must be announced; the longest hold is 45 minutes."""

TTL = 7200.0


class Simulation:
    """
    One run, in which all randomness comes from *seed*.

    *skews*: by how many seconds the clock of each replica is wrong.
    *resync*: the seconds between full passes, which repair what a replica missed.
    """

    def __init__(
        self, seed: int, skews: tuple[float, ...] = (0.0, 0.0), *, resync: float = 60.0
    ) -> None:
        self.random = Random(seed)
        self.clock = VirtualClock()
        self.cluster = SimulatedCluster(self.clock)
        self.truth = GroundTruth(self.cluster)
        self.events, self.leases = EventStore(self.clock), LeaseStore(self.clock)
        self.replicas: list[Replica] = []
        self.dead: list[Replica] = []
        self.send_checker = SendChecker(self.truth, self.replicas)
        self.delivery_checker = DeliveryChecker(self.events, self.send_checker)
        self.events.on_write = self.delivery_checker
        self.environment = SharedEnvironment(
            self.clock,
            self.random,
            self.cluster,
            self.events,
            self.leases,
            self.send_checker,
            timedelta(seconds=resync),
        )
        self.steps = 0
        for number, skew in enumerate(skews):
            self.replicas.append(Replica(self.environment, f"reporter-{number}", skew))
        self.advance(20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for replica in (*self.replicas, *self.dead):
            replica.event_loop.close()

    def advance(self, seconds: float) -> None:
        """Let time pass, from one moment at which something happens to the next."""
        end = self.clock.now + seconds
        while True:
            self._run_due()
            moment = min(self.clock.next_due, *(each.next_wakeup for each in self.replicas))
            if moment > end:
                break
            self.clock.now = max(moment, self.clock.now)
        self.clock.now = end

    def _run_due(self) -> None:
        self.clock.run_due()
        for replica in self.replicas:
            if replica.next_wakeup <= self.clock.now:
                replica.run_until_idle()
                self.steps += 1
        if self.send_checker.violations:
            raise self.send_checker.violations[0]

    # ------------------------------------------------------------ faults

    def begin_trouble(self, trouble: str) -> None:
        self.cluster.begin(trouble)

    def end_trouble(self, trouble: str) -> None:
        self.cluster.end(trouble)

    def end_all_troubles(self) -> None:
        for trouble in tuple(self.cluster.troubles):
            self.end_trouble(trouble)

    def degrade_network(self, number: int, condition: NetworkCondition, seconds: float) -> None:
        network = self.replicas[number].network
        network.condition = condition
        self.clock.call_after(
            seconds, lambda: setattr(network, "condition", NetworkCondition.HEALTHY)
        )

    def cut_watches(self, number: int, kinds: tuple[ResourceKind, ...], seconds: float) -> None:
        self._lose_watches(number, kinds, seconds)

    def forbid_watches(self, number: int, kinds: tuple[ResourceKind, ...], seconds: float) -> None:
        self._lose_watches(number, kinds, seconds, forbidden=True)

    def _lose_watches(
        self,
        number: int,
        kinds: tuple[ResourceKind, ...],
        seconds: float,
        *,
        forbidden: bool = False,
    ) -> None:
        watches = self.replicas[number].watches
        for kind in kinds:
            watches.close(kind, forbidden=forbidden)
            self.clock.call_after(seconds, partial(watches.reopen, kind))

    def partition(self, number: int, seconds: float) -> None:
        """Cut everything between a replica and the API server."""
        watches = self.replicas[number].watches
        watches.discovers = False
        self.clock.call_after(seconds, lambda: setattr(watches, "discovers", True))
        self.degrade_network(number, NetworkCondition.UNREACHABLE, seconds)
        self.cut_watches(number, DEFAULT_KINDS, seconds)

    def delay_watches(self, number: int, seconds: float) -> None:
        self.replicas[number].watches.late = seconds

    def pause(self, number: int, seconds: float) -> None:
        replica = self.replicas[number]
        replica.stopped = True
        self.clock.call_after(seconds, replica.resume)

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
                forbidden = frozenset(old.watches.forbidden)
                self.replicas[number] = Replica(self.environment, old.name, old.skew, forbidden)

        self.clock.call_after(seconds, begin)

    def silence(self, seconds: float) -> None:
        """
        Silence the cluster and all namespaces that there are, in place of an earlier silence.
        """
        namespaces = frozenset(subject.namespace for subject in self.truth.subjects)
        until = (self.clock.wall_time + timedelta(seconds=seconds)).replace(microsecond=0)
        self.environment.silences.append(SimulatedSilence(namespaces, until))
        for replica in self.replicas:
            replica.read_silence()

    def delete_an_event(self) -> None:
        names = sorted(self.events.objects)
        if names:
            self.events.delete(self.random.choice(names))

    def set_event_ttl(self, seconds: float) -> None:
        self.events.ttl = seconds

    def delete_the_lease(self) -> None:
        self.leases.delete()

    def steal_the_lease(self) -> None:
        before, duration = self.leases.record, timedelta(seconds=15)
        if before is not None:
            self.leases.record = replace(before, holder="somebody", duration=duration)
            self.leases.version += 1

    # ------------------------------------------------------------ the end

    def check_final_state(self) -> None:
        """
        End all faults, let nothing change any more, and check that the Events match the truth.
        """
        self.events.ttl = TTL
        self.silence(0)
        for name in [each for each in self.cluster.troubles if "not looked at" in each]:
            self.end_trouble(name)
        for number, replica in enumerate(self.replicas):
            if not replica.alive or replica.stopping:
                self._replace(number, 6.0 if replica.alive else 0.0)
            replica.stopped = False
            replica.network.condition = NetworkCondition.HEALTHY
            replica.watches.discovers = True
            replica.watches.late = 0.2
            for kind in [each for each in DEFAULT_KINDS if each in replica.watches.cut]:
                replica.watches.reopen(kind)
        since = self.clock.now
        for seconds in (SHORT_REST, LONG_REST, LONGEST_REST):
            self.advance(since + seconds - self.clock.now)
            checker = FinalStateChecker(self.truth, self.delivery_checker, since)
            checker.check()
            if seconds > SHORT_REST and checker.is_everything_past_hold:
                break
