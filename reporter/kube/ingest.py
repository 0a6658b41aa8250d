"""Write the list results and watch events of one kind into the store, and count them."""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds.objects import ApiObject, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube import watch_events
from reporter.kube.lister import ListResult
from reporter.kube.watch_context import PassiveClock


logger = logging.getLogger(__name__)


class ObjectStore(Protocol):
    """The receiver of the objects that a reflector lists and watches."""

    def replace_in_batches(
        self,
        kind: ResourceKind,
        objects: Iterable[ApiObject],
        unread: Mapping[NamespacedName, ApiObject | None],
    ) -> Iterable[None]:
        """
        Store a complete list and drop the objects of the kind that are not in it.

        Yields between batches, where other tasks may run. *unread*: the stubs of the listed objects that
        could not be decoded. They keep their old version and are marked as by *mark_undecodable*.
        """

    def upsert(self, kind: ResourceKind, new: ApiObject) -> None:
        """Store an object that was added or modified, in place of its earlier version."""

    def delete(self, kind: ResourceKind, namespace: str, name: str) -> None:
        """
        Remove an object; do nothing if it is not there. *namespace*: empty for cluster-scoped kinds.
        """

    def mark_undecodable(
        self, kind: ResourceKind, namespace: str, name: str, stub: ApiObject | None
    ) -> None:
        """
        Note that the newest version of an object cannot be decoded; an earlier one stays.

        *stub*: its metadata alone, for an object that is not known yet; None if that is unreadable
        too.
        """


class ReflectorStats(Struct, frozen=True):
    """
    The counters of a reflector, for metrics.

    *relists* and *rewatches* leave out the first. *last_event*: when the last list result or watch
    event arrived, bookmarks included. *missed_events*: the lists that a missed event led to.
    """

    objects: int = 0
    relists: int = 0
    rewatches: int = 0
    decode_errors: int = 0
    missed_events: int = 0
    last_event: datetime | None = None


class Ingester:
    """
    Writes one kind into the store.

    *resource_version*: the version up to which the store is complete; empty if a list is needed.
    """

    def __init__(self, kind: ResourceKind, store: ObjectStore, clock: PassiveClock) -> None:
        self.resource_version = ""
        self.stats = ReflectorStats(relists=-1, rewatches=-1)
        self._kind = kind
        self._store = store
        self._clock = clock
        self._undecodable: dict[NamespacedName, str] = {}

    def record_watch_start(self) -> None:
        """Count an opened watch in *rewatches* of the stats, and set their *last_event* to now."""
        self.stats = replace(
            self.stats,
            rewatches=self.stats.rewatches + 1,
            last_event=self._clock.now(),
        )

    def record_missed_event(self) -> None:
        """Count a list that the second look asks for, as the watch has missed an event."""
        self.stats = replace(self.stats, missed_events=self.stats.missed_events + 1)

    async def replace(self, result: ListResult) -> None:
        """Replace all objects by a list result; other tasks run between batches."""
        unread = {each.name: each.stub for each in result.undecodable}
        for _ in self._store.replace_in_batches(self._kind, result.objects, unread):
            await asyncio.sleep(0)
        self.resource_version = result.resource_version
        undecodable = {each.name: each.why for each in result.undecodable}
        for name in self._undecodable.keys() - undecodable.keys():
            del self._undecodable[name]
        for name, why in undecodable.items():
            self._log_undecodable(name, why)
        self.stats = replace(
            self.stats,
            objects=len(result.objects) + len(result.undecodable),
            relists=self.stats.relists + 1,
            decode_errors=self.stats.decode_errors + len(result.undecodable),
            last_event=self._clock.now(),
        )

    def apply(self, event: watch_events.WatchEvent) -> None:
        """
        Write one event of the watch into the store, and move *resource_version* on to that of the event.

        An object that cannot be decoded keeps its last version; a bookmark changes no object.
        """
        objects, decode_errors = self.stats.objects, self.stats.decode_errors
        match event:
            case watch_events.Upsert():
                self._store.upsert(self._kind, event.object)
                self._undecodable.pop(event.name, None)
                objects += event.is_new
            case watch_events.Delete(name=(namespace, name)):
                self._store.delete(self._kind, namespace, name)
                self._undecodable.pop(event.name, None)
                objects -= 1
            case watch_events.UndecodableObject(name=(namespace, name)):
                self._store.mark_undecodable(self._kind, namespace, name, event.stub)
                self._log_undecodable(event.name, event.why)
                objects += event.is_new
                decode_errors += 1
            case watch_events.Bookmark():
                pass
        self.resource_version = event.resource_version or self.resource_version
        now = self._clock.now()
        self.stats = replace(
            self.stats, objects=objects, decode_errors=decode_errors, last_event=now
        )

    def _log_undecodable(self, name: NamespacedName, why: str) -> None:
        """Log once for each cause: an object may change many times a minute."""
        if self._undecodable.get(name) == why:
            return
        self._undecodable[name] = why
        logger.warning(
            "%s %s cannot be decoded, keeping its last known version: %s",
            self._kind.group_resource,
            "/".join(part for part in name if part),
            why,
        )


class Backlog:
    """
    Holds back the first events of a watch that follows a lost one, and applies them together.

    The API server replays each change since the loss (API concepts, "Efficient detection of changes"),
    and one by one each past state would look like the current one.

    *is_replayed*: whether the watch follows a lost one; else nothing is held back. *quiet*: the time
    without an event after which the replay is over. *limit*: the longest time for which the first event
    is held back if changes never pause. *has_applied*: an event was applied.
    """

    def __init__(
        self, ingester: Ingester, *, is_replayed: bool, quiet: timedelta, limit: timedelta
    ) -> None:
        self.has_applied = False
        self._ingester = ingester
        self._quiet, self._limit = quiet.total_seconds(), limit.total_seconds()
        self._events: list[watch_events.WatchEvent] = []
        self._apply_by = 0.0
        self._timer: asyncio.TimerHandle | None = None
        if is_replayed:
            self._timer = asyncio.get_running_loop().call_later(self._quiet, self._apply)

    def add(self, event: watch_events.WatchEvent) -> None:
        """Hold back an event, or apply it once the replay is over."""
        self._events.append(event)
        if self._timer is None:
            self._apply()
            return
        self._timer.cancel()
        loop = asyncio.get_running_loop()
        if len(self._events) == 1:
            self._apply_by = loop.time() + self._limit
        self._timer = loop.call_at(min(loop.time() + self._quiet, self._apply_by), self._apply)

    def drop(self) -> None:
        """Drop what is held back, as the watch has ended: the next one sends it again."""
        self._events.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _apply(self) -> None:
        self._timer = None
        for each in self._events:
            self._ingester.apply(each)
            self.has_applied = True
        self._events.clear()
