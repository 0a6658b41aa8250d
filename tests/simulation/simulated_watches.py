"""Feed a replica with the cluster: a watch per kind and discovery, each with random delays."""

from collections.abc import Callable, Container, Iterable
from functools import partial
from random import Random

from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost
from reporter.store.store import Store
from tests.simulation.cluster import ObjectUpdate, SimulatedCluster
from tests.simulation.troubles import CRDS
from tests.support.virtual_clock import VirtualClock


DISCOVERY_INTERVAL, CONFIRM_INTERVAL = 30.0, 11.0


class SimulatedWatches:
    """
    Writes into the store what real watches would.

    *deliver*: runs a callback in the replica's process. *wall*: returns the replica's time.
    *late*: the longest delay of a change, in seconds.
    *delays*: kind, time and delay of each change that arrived.
    *undelivered*: when each change happened that did not arrive yet.
    *first*: when each kind was listed for the first time.
    """

    def __init__(
        self,
        cluster: SimulatedCluster,
        store: Store,
        random: Random,
        deliver: Callable,
        wall: Callable,
    ) -> None:
        self._clock: VirtualClock = cluster.clock
        self._cluster, self._store, self._random = cluster, store, random
        self._deliver, self._wall = deliver, wall
        self.late = 0.2
        self.open: dict[ResourceKind, int] = {}
        self.lost: dict[ResourceKind, float] = dict.fromkeys(DEFAULT_KINDS, self._clock.now)
        self.listed: set[ResourceKind] = set()
        self.first: dict[ResourceKind, float] = {}
        self.forbidden: set[ResourceKind] = set()
        self.cut: set[ResourceKind] = set()
        self.discovers = True
        self.delays: list[tuple[ResourceKind, float, float]] = []
        self.undelivered: dict[tuple[ResourceKind, int], float] = {}
        self._order = 0
        self._last: dict[ResourceKind, float] = {}
        self._ended = False

    def start(self) -> None:
        self._cluster.object_watchers.append(self._on_changes)
        self._cluster.discovery_watchers.append(self._on_discovery)
        self._discover()
        for kind in DEFAULT_KINDS:
            self.relist(kind)

    def stop(self) -> None:
        self._ended = True
        self._cluster.object_watchers.remove(self._on_changes)
        self._cluster.discovery_watchers.remove(self._on_discovery)

    # ------------------------------------------------------------ faults

    def close(self, kind: ResourceKind, *, forbidden: bool = False) -> None:
        """End the watch, until it is opened again."""
        self.cut.add(kind)
        if forbidden:
            self.forbidden.add(kind)
        self._close(kind, "forbidden" if forbidden else "connection lost")

    def _close(self, kind: ResourceKind, why: str) -> None:
        if self.open.pop(kind, None) is None:
            return
        self.lost[kind] = self._clock.now

        def mark_lost() -> None:  # nothing is known of a kind that was never listed
            lost = WatchLost(self._wall(), why) if kind in self.listed else NotSynced(why)
            self._store.set_watch_state(kind, lost)

        self._deliver(mark_lost)

    def reopen(self, kind: ResourceKind) -> None:
        self.cut.discard(kind)
        self.forbidden.discard(kind)
        self.relist(kind)

    def relist(self, kind: ResourceKind) -> None:
        """
        List the kind anew. Changes under way are void: the list shows the objects as they are then.
        """
        self._order += 1
        number = self.open[kind] = self._order
        self._clock.call_after(self._delay(), lambda: self._list(kind, number))

    def _list(self, kind: ResourceKind, number: int) -> None:
        if self._ended or self.open.get(kind) != number:
            return
        if kind in self.forbidden and kind not in self.listed:
            self._deliver(lambda: self._store.set_watch_state(kind, NotSynced("forbidden")))
            return
        if not self._cluster.serves(kind):
            self.listed.discard(kind)
            self._deliver(lambda: self._store.set_watch_state(kind, NotServed()))
            return
        objects, taken_at = list(self._cluster.objects[kind].values()), self._clock.now
        self._random.shuffle(objects)

        def store() -> None:
            if self.open.get(kind) == number:
                self._store.replace(kind, objects)
                self._store.set_watch_state(kind, Watching())
                self.listed.add(kind)
                self.first.setdefault(kind, self._clock.now)
                self._mark_listed(kind, taken_at)

        self._deliver(store)

    def _mark_listed(self, kind: ResourceKind, until: float) -> None:
        for key in [k for k, at in self.undelivered.items() if k[0] is kind and at <= until]:
            self._mark_delivered(key)

    def _mark_delivered(self, key: tuple[ResourceKind, int]) -> None:
        at = self.undelivered.pop(key, None)
        if at is not None:
            self.delays.append((key[0], self._clock.now, self._clock.now - at))

    # ------------------------------------------------------------ changes

    def _on_changes(self, changes: Iterable[ObjectUpdate]) -> None:
        for change in changes:
            self._order += 1
            key = change.kind, self._order
            self.undelivered[key] = self._clock.now
            number = self.open.get(change.kind)
            if number is not None and change.kind in self.listed:
                due = max(self._last.get(change.kind, 0.0), self._clock.now + self._delay())
                self._last[change.kind] = due
                self._clock.call_at(due, partial(self._deliver_change, change, key, number))

    def _deliver_change(
        self, change: ObjectUpdate, key: tuple[ResourceKind, int], number: int
    ) -> None:
        if not self._ended and self.open.get(change.kind) == number:
            self._deliver(lambda: self._apply_change(change, key, number))

    def _apply_change(
        self, change: ObjectUpdate, key: tuple[ResourceKind, int], number: int
    ) -> None:
        if self.open.get(change.kind) != number:
            return
        if change.new is None:
            self._store.delete(change.kind, *change.name)
        else:
            self._store.upsert(change.kind, change.new)
        self._mark_delivered(key)

    def _on_discovery(self) -> None:
        """Relist the kinds with CRDs: the server ends the watch of a kind it no longer serves."""
        for kind in DEFAULT_KINDS:
            if kind.group_resource in CRDS:
                delay = (
                    self._delay()
                    if not self._cluster.serves(kind)
                    else self._random.uniform(1, 30)
                )
                self._clock.call_after(delay + 0.1, partial(self._relist_unless_cut, kind))

    def _relist_unless_cut(self, kind: ResourceKind) -> None:
        if not self._ended and kind not in self.cut:
            self.relist(kind)

    def _discover(self) -> None:
        if self._ended:
            return
        response = self._cluster.discovery if self.discovers else None
        now = self._wall
        self._deliver(
            lambda: self._store.record_discovery(
                response, "" if response else "unreachable", now=now()
            )
        )
        again = CONFIRM_INTERVAL if self._store.has_unconfirmed_loss else DISCOVERY_INTERVAL
        self._clock.call_after(again, self._discover)

    def _delay(self) -> float:
        return self._random.uniform(0, self.late)

    # ------------------------------------------------------------ for the checkers

    def was_watched_since(self, kind: ResourceKind, since: float) -> bool:
        return kind not in self.cut and self.lost[kind] < since

    def lag(self, since: float, kinds: Container[ResourceKind]) -> float:
        """Return by how many seconds the replica was late at most with these kinds since then."""
        now = self._clock.now
        under_way = [now - at for (kind, _), at in self.undelivered.items() if kind in kinds]
        arrived = [late for kind, at, late in self.delays if at >= since and kind in kinds]
        return max([0.0, *under_way, *arrived])
