"""
Brings what was listed and watched of one kind into the store, and counts it.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from reporter.kube.changes import Bookmark, Change, Drop, Name, Put, Spoilt
from reporter.kube.lists import Listing
from reporter.kube.means import Clock
from reporter.model.kinds import ResourceKind
from reporter.model.objects import ApiObject


logger = logging.getLogger(__name__)


class Objects(Protocol):
    """
    *replacing* takes a complete list, with pauses.

    Of names in *unread* the old version stays, marked as by *spoil*.
    """

    def replacing(
        self, kind: ResourceKind, objects: Iterable[ApiObject], unread: Collection[Name]
    ) -> Iterable[None]: ...

    def put(self, kind: ResourceKind, new: ApiObject) -> None: ...

    def drop(self, kind: ResourceKind, namespace: str, name: str) -> None: ...

    def spoil(self, kind: ResourceKind, namespace: str, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """
    What a reflector has done so far, for metrics.

    *relists* and *rewatches* do not count the first; *spoilt* counts what could not be decoded.
    *last_event* is when the API server last said anything about this kind, bookmarks included.
    """

    objects: int = 0
    relists: int = 0
    rewatches: int = 0
    spoilt: int = 0
    last_event: datetime | None = None


class Intake:
    """
    *position* is the version up to which everything is in the store; empty if a list is needed.
    """

    def __init__(self, kind: ResourceKind, store: Objects, clock: Clock) -> None:
        self.position = ""
        self.progress = Progress(relists=-1, rewatches=-1)
        self._kind = kind
        self._store = store
        self._clock = clock
        self._odd: dict[Name, str] = {}

    def opened(self) -> None:
        """
        Count a watch that was opened.
        """
        self.progress = replace(
            self.progress,
            rewatches=self.progress.rewatches + 1,
            last_event=self._clock.now(),
        )

    async def replace(self, listing: Listing) -> None:
        """
        A long list lets others have their turn.
        """
        unread = frozenset(each.name for each in listing.spoilt)
        for _ in self._store.replacing(self._kind, listing.objects, unread):
            await asyncio.sleep(0)
        self.position = listing.version
        odd = {each.name: each.why for each in listing.spoilt}
        for name in self._odd.keys() - odd.keys():
            del self._odd[name]
        for name, why in odd.items():
            self._tell(name, why)
        self.progress = replace(
            self.progress,
            objects=len(listing.objects) + len(listing.spoilt),
            relists=self.progress.relists + 1,
            spoilt=self.progress.spoilt + len(listing.spoilt),
            last_event=self._clock.now(),
        )

    def take(self, change: Change) -> None:
        objects, spoilt = self.progress.objects, self.progress.spoilt
        match change:
            case Put():
                self._store.put(self._kind, change.object)
                self._odd.pop(change.name, None)
                objects += change.new
            case Drop(name=(namespace, name)):
                self._store.drop(self._kind, namespace, name)
                self._odd.pop(change.name, None)
                objects -= 1
            case Spoilt(name=(namespace, name)):
                self._store.spoil(self._kind, namespace, name)
                self._tell(change.name, change.why)
                objects += change.new
                spoilt += 1
            case Bookmark():
                pass
        self.position = change.version or self.position
        now = self._clock.now()
        self.progress = replace(self.progress, objects=objects, spoilt=spoilt, last_event=now)

    def _tell(self, name: Name, why: str) -> None:
        """
        Once for as long as it is so: an object may change many times a minute.
        """
        if self._odd.get(name) == why:
            return
        self._odd[name] = why
        logger.warning(
            "%s %s cannot be decoded, what was known of it stays: %s",
            self._kind.qualified,
            "/".join(part for part in name if part),
            why,
        )
