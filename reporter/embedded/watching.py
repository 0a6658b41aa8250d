"""
Watches: what a client that watches is told.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

import msgspec

from reporter.embedded import encoding
from reporter.embedded.kinds import Kind
from reporter.embedded.listing import number, version_number
from reporter.embedded.matching import Selection
from reporter.embedded.objects import Objects
from reporter.embedded.statuses import ApiError, forbidden_value, invalid
from reporter.embedded.storage import Change, Collection, Delivery, Ending, Stored, TooOld


Show = Callable[[Stored], bytes]
"""
How an object is shown: as itself or as a Table.
"""
NOT_OLDER = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"


@dataclass(frozen=True, slots=True)
class WatchOptions:
    version: int
    initial: bool
    """
    Whether all that is there is told first.
    """
    bookmarks: bool
    timeout: float | None
    """
    Seconds.
    """


def watch_options(query: Mapping[str, str]) -> WatchOptions:
    asked = query.get("sendInitialEvents")
    if asked and query.get("resourceVersionMatch") != "NotOlderThan":
        cause = forbidden_value("resourceVersionMatch", NOT_OLDER)
        raise invalid("ListOptions", "meta.k8s.io", "", [cause])
    version = version_number(query.get("resourceVersion", ""))
    initial = asked in {"1", "true", "True"} if asked else version == 0
    timeout = number(query.get("timeoutSeconds", ""))
    bookmarks = query.get("allowWatchBookmarks", "") in {"1", "true", "True"}
    return WatchOptions(version, initial, bookmarks, float(timeout) if timeout else None)


@dataclass(frozen=True, slots=True)
class Watch:
    """
    One watch, from its first frame to its last.
    """

    kind: Kind
    objects: Objects
    chosen: Selection
    options: WatchOptions
    show: Show
    bookmark_seconds: float

    async def frames(self) -> AsyncIterator[bytes | Ending]:
        """
        Frames until the timeout; an Ending is the last.
        """
        collection = self.objects.collection(self.kind)
        delivery: Delivery = asyncio.Queue()
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.options.timeout if self.options.timeout else None
        collection.watchers.add(delivery)
        try:
            try:
                backlog = self._backlog(collection)
            except TooOld as err:
                yield _expired(self.kind, self.options.version, err.start)
                return
            for told in backlog:
                yield told
            async for frame in self._live(delivery, ends):
                yield frame
        finally:
            collection.watchers.discard(delivery)

    def _backlog(self, collection: Collection) -> list[bytes]:
        """
        What is to be told at once.
        """
        if not self.options.initial:
            version = self.options.version or self.objects.storage.version
            changes = collection.since(version)
            return [frame for change in changes if (frame := self._frame(change))]
        frames = [
            encoding.watch_event("ADDED", self.show(stored))
            for stored in collection.in_order()
            if self.chosen.matches(stored)
        ]
        if self.options.bookmarks:
            frames.append(self._bookmark(initial_end=True))
        return frames

    async def _live(self, delivery: Delivery, ends: float | None) -> AsyncIterator[bytes | Ending]:
        loop = asyncio.get_running_loop()
        told = self.objects.storage.version
        while ends is None or loop.time() < ends:
            wait = self.bookmark_seconds
            if ends is not None:
                wait = min(wait, ends - loop.time())
            try:
                change = await asyncio.wait_for(delivery.get(), wait)
            except TimeoutError:
                version = self.objects.storage.version
                if self.options.bookmarks and wait == self.bookmark_seconds and version > told:
                    told = version
                    yield self._bookmark(initial_end=False)
                continue
            if isinstance(change, Ending):
                yield change
                return
            frame = self._frame(change)
            if frame:
                yield frame

    def _frame(self, change: Change) -> bytes | None:
        """
        How one change looks through the selectors: an object may come into view or leave it.
        """
        if change.version <= self.options.version:
            return None
        before = change.old is not None and self.chosen.matches(change.old)
        if change.new is not None and self.chosen.matches(change.new):
            return encoding.watch_event("MODIFIED" if before else "ADDED", self.show(change.new))
        if before and change.old is not None:
            return encoding.watch_event("DELETED", self.show(change.old.at(change.version)))
        return None

    def _bookmark(self, *, initial_end: bool) -> bytes:
        mark = encoding.bookmark(self.kind, self.objects.storage.version, initial_end=initial_end)
        return encoding.watch_event("BOOKMARK", msgspec.json.encode(mark))


def _expired(kind: Kind, version: int, start: int) -> bytes:
    text = f"too old resource version: {version} ({start})"
    if not kind.cached:
        text = "The resourceVersion for the provided watch is too old."
    return expired_frame(text)


def expired_frame(text: str) -> bytes:
    """
    The ERROR event that says that the client has to list anew.
    """
    return encoding.watch_event(
        "ERROR", msgspec.json.encode(ApiError(410, "Expired", text).status)
    )
