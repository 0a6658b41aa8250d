"""
How a replica learns of the cluster: a watch for each kind and discovery, each late in its own way.
"""

from collections.abc import Callable, Container, Iterable
from functools import partial
from random import Random

from reporter.model.kinds import KINDS, ResourceKind
from reporter.model.observations import Unlisted, Unserved, Unwatched, Watched
from reporter.stages.store import Store
from tests.simulation.agenda import Agenda
from tests.simulation.cluster import Change, Cluster
from tests.simulation.troubles import CRDS


DISCOVERY, SECOND_LOOK = 30.0, 11.0


class Watching:
    """
    Writes into the store what a real watch would. *deliver* runs an act in the replica's process.

    *late*: the longest delay of a change. *delays*: of which kind a change arrived when, how late.
    *first*: when a kind was listed for the first time.
    """

    def __init__(
        self, cluster: Cluster, store: Store, random: Random, deliver: Callable, wall: Callable
    ) -> None:
        self._agenda: Agenda = cluster.agenda
        self._cluster, self._store, self._random = cluster, store, random
        self._deliver, self._wall = deliver, wall
        self.late = 0.2
        self.open: dict[ResourceKind, int] = {}
        self.lost: dict[ResourceKind, float] = dict.fromkeys(KINDS, self._agenda.now)
        self.listed: set[ResourceKind] = set()
        self.first: dict[ResourceKind, float] = {}
        self.forbidden: set[ResourceKind] = set()
        self.cut: set[ResourceKind] = set()
        self.discovers = True
        self.delays: list[tuple[ResourceKind, float, float]] = []
        self.unseen: dict[tuple[ResourceKind, int], float] = {}
        self._order = 0
        self._last: dict[ResourceKind, float] = {}
        self._ended = False

    def begin(self) -> None:
        self._cluster.tell.append(self._changed)
        self._cluster.tell_served.append(self._served)
        self._discover()
        for kind in KINDS:
            self.relist(kind)

    def end(self) -> None:
        self._ended = True
        self._cluster.tell.remove(self._changed)
        self._cluster.tell_served.remove(self._served)

    # ------------------------------------------------------------ what goes wrong

    def lose(self, kind: ResourceKind, *, forbidden: bool = False) -> None:
        """
        The watch ends; it stays closed until it is opened again.
        """
        self.cut.add(kind)
        if forbidden:
            self.forbidden.add(kind)
        self._close(kind, "forbidden" if forbidden else "connection lost")

    def _close(self, kind: ResourceKind, why: str) -> None:
        if self.open.pop(kind, None) is None:
            return
        self.lost[kind] = self._agenda.now
        self._deliver(lambda: self._store.sight(kind, Unwatched(self._wall(), why)))

    def reopen(self, kind: ResourceKind) -> None:
        self.cut.discard(kind)
        self.forbidden.discard(kind)
        self.relist(kind)

    def relist(self, kind: ResourceKind) -> None:
        """
        What was under way is void; the list tells what there is when it is answered.
        """
        self._order += 1
        number = self.open[kind] = self._order
        self._agenda.after(self._delay(), lambda: self._list(kind, number))

    def _list(self, kind: ResourceKind, number: int) -> None:
        if self._ended or self.open.get(kind) != number:
            return
        if kind in self.forbidden and kind not in self.listed:
            self._deliver(lambda: self._store.sight(kind, Unlisted("forbidden")))
            return
        if not self._cluster.serves(kind):
            self.listed.discard(kind)
            self._deliver(lambda: self._store.sight(kind, Unserved()))
            return
        objects, taken_at = list(self._cluster.objects[kind].values()), self._agenda.now
        self._random.shuffle(objects)

        def take() -> None:
            if self.open.get(kind) == number:
                self._store.replace(kind, objects)
                self._store.sight(kind, Watched())
                self.listed.add(kind)
                self.first.setdefault(kind, self._agenda.now)
                self._listed_until(kind, taken_at)

        self._deliver(take)

    def _listed_until(self, kind: ResourceKind, until: float) -> None:
        for key in [k for k, at in self.unseen.items() if k[0] is kind and at <= until]:
            self._seen(key)

    def _seen(self, key: tuple[ResourceKind, int]) -> None:
        at = self.unseen.pop(key, None)
        if at is not None:
            self.delays.append((key[0], self._agenda.now, self._agenda.now - at))

    # ------------------------------------------------------------ what is told

    def _changed(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self._order += 1
            key = change.kind, self._order
            self.unseen[key] = self._agenda.now
            number = self.open.get(change.kind)
            if number is not None and change.kind in self.listed:
                due = max(self._last.get(change.kind, 0.0), self._agenda.now + self._delay())
                self._last[change.kind] = due
                self._agenda.at(due, partial(self._arrives, change, key, number))

    def _arrives(self, change: Change, key: tuple[ResourceKind, int], number: int) -> None:
        if not self._ended and self.open.get(change.kind) == number:
            self._deliver(lambda: self._take(change, key, number))

    def _take(self, change: Change, key: tuple[ResourceKind, int], number: int) -> None:
        if self.open.get(change.kind) != number:
            return
        if change.made is None:
            self._store.drop(change.kind, *change.name)
        else:
            self._store.put(change.kind, change.made)
        self._seen(key)

    def _served(self) -> None:
        """
        The server ends the watch of what it does not serve any more.
        """
        for kind in KINDS:
            if kind.qualified in CRDS:
                soon = (
                    self._delay()
                    if not self._cluster.serves(kind)
                    else self._random.uniform(1, 30)
                )
                self._agenda.after(soon + 0.1, partial(self._relist_of, kind))

    def _relist_of(self, kind: ResourceKind) -> None:
        if not self._ended and kind not in self.cut:
            self.relist(kind)

    def _discover(self) -> None:
        if self._ended:
            return
        answer = self._cluster.discovery if self.discovers else None
        now = self._wall
        self._deliver(lambda: self._store.discovered(answer, "" if answer else "gone", now=now()))
        again = SECOND_LOOK if self._store.doubting else DISCOVERY
        self._agenda.after(again, self._discover)

    def _delay(self) -> float:
        return self._random.uniform(0, self.late)

    # ------------------------------------------------------------ for the laws

    def has_seen(self, kind: ResourceKind, since: float) -> bool:
        return kind not in self.cut and self.lost[kind] < since

    def lag(self, since: float, kinds: Container[ResourceKind]) -> float:
        """
        By how many seconds what this replica knew of these kinds since then was late at most.
        """
        now = self._agenda.now
        under_way = [now - at for (kind, _), at in self.unseen.items() if kind in kinds]
        arrived = [late for kind, at, late in self.delays if at >= since and kind in kinds]
        return max([0.0, *under_way, *arrived])
