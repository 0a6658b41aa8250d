"""
Brings what was listed and watched of one kind into the store, and counts it.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from reporter.kube.watch.context import PassiveClock
from reporter.kube.watch.lister import ListResult
from reporter.kube.watch.watch_events import (
    Bookmark,
    Delete,
    UndecodableObject,
    Upsert,
    WatchEvent,
)
from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind


logger = logging.getLogger(__name__)


class ObjectStore(Protocol):
    """
    *replacing* takes a complete list, with pauses.

    Of names in *unread* the old version stays, marked as by *spoil*.
    """

    def replace_in_batches(
        self, kind: ResourceKind, objects: Iterable[ApiObject], unread: Collection[NamespacedName]
    ) -> Iterable[None]: ...

    def upsert(self, kind: ResourceKind, new: ApiObject) -> None: ...

    def delete(self, kind: ResourceKind, namespace: str, name: str) -> None: ...

    def mark_undecodable(self, kind: ResourceKind, namespace: str, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ReflectorStats:
    """
    What a reflector has done so far, for metrics.

    *relists* and *rewatches* do not count the first; *spoilt* counts what could not be decoded.
    *last_event* is when the API server last said anything about this kind, bookmarks included.
    """

    objects: int = 0
    relists: int = 0
    rewatches: int = 0
    decode_errors: int = 0
    last_event: datetime | None = None


class Ingester:
    """
    *position* is the version up to which everything is in the store; empty if a list is needed.
    """

    def __init__(self, kind: ResourceKind, store: ObjectStore, clock: PassiveClock) -> None:
        self.resource_version = ""
        self.stats = ReflectorStats(relists=-1, rewatches=-1)
        self._kind = kind
        self._store = store
        self._clock = clock
        self._undecodable: dict[NamespacedName, str] = {}

    def record_watch_start(self) -> None:
        """
        Count a watch that was opened.
        """
        self.stats = replace(
            self.stats,
            rewatches=self.stats.rewatches + 1,
            last_event=self._clock.now(),
        )

    async def replace(self, listing: ListResult) -> None:
        """
        A long list lets others have their turn.
        """
        unread = frozenset(each.name for each in listing.undecodable)
        for _ in self._store.replace_in_batches(self._kind, listing.objects, unread):
            await asyncio.sleep(0)
        self.resource_version = listing.resource_version
        odd = {each.name: each.why for each in listing.undecodable}
        for name in self._undecodable.keys() - odd.keys():
            del self._undecodable[name]
        for name, why in odd.items():
            self._log_undecodable(name, why)
        self.stats = replace(
            self.stats,
            objects=len(listing.objects) + len(listing.undecodable),
            relists=self.stats.relists + 1,
            decode_errors=self.stats.decode_errors + len(listing.undecodable),
            last_event=self._clock.now(),
        )

    def apply(self, change: WatchEvent) -> None:
        objects, spoilt = self.stats.objects, self.stats.decode_errors
        match change:
            case Upsert():
                self._store.upsert(self._kind, change.object)
                self._undecodable.pop(change.name, None)
                objects += change.is_new
            case Delete(name=(namespace, name)):
                self._store.delete(self._kind, namespace, name)
                self._undecodable.pop(change.name, None)
                objects -= 1
            case UndecodableObject(name=(namespace, name)):
                self._store.mark_undecodable(self._kind, namespace, name)
                self._log_undecodable(change.name, change.why)
                objects += change.is_new
                spoilt += 1
            case Bookmark():
                pass
        self.resource_version = change.resource_version or self.resource_version
        now = self._clock.now()
        self.stats = replace(self.stats, objects=objects, decode_errors=spoilt, last_event=now)

    def _log_undecodable(self, name: NamespacedName, why: str) -> None:
        """
        Once for as long as it is so: an object may change many times a minute.
        """
        if self._undecodable.get(name) == why:
            return
        self._undecodable[name] = why
        logger.warning(
            "%s %s cannot be decoded, what was known of it stays: %s",
            self._kind.group_resource,
            "/".join(part for part in name if part),
            why,
        )
