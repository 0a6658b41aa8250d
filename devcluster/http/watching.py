"""Watches: the events of one watch, from the initial ones to its end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

import msgspec

from devcluster.http.responses import objects
from devcluster.schema.api_errors import ApiError, forbidden_value, invalid
from devcluster.schema.kinds import ServedKind
from devcluster.storage.listing import parse_integer, parse_resource_version
from devcluster.storage.registry_store import RegistryStore
from devcluster.storage.selection import Selection
from devcluster.storage.storage import (
    Collection,
    StoredChange,
    StoredObject,
    TooOldResourceVersion,
    WatchEnd,
    WatchQueue,
)


ObjectEncoder = Callable[[StoredObject], bytes]
"""Encodes an object for the client, as itself or as a Table."""
NOT_OLDER_THAN_REQUIRED = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"


@dataclass(frozen=True, slots=True)
class WatchOptions:
    resource_version: int
    send_initial_events: bool
    """True if the watch begins with all existing objects."""
    allow_bookmarks: bool
    timeout_seconds: float | None


def parse_watch_options(query: Mapping[str, str]) -> WatchOptions:
    send_initial = query.get("sendInitialEvents")
    if send_initial and query.get("resourceVersionMatch") != "NotOlderThan":
        cause = forbidden_value("resourceVersionMatch", NOT_OLDER_THAN_REQUIRED)
        raise invalid("ListOptions", "meta.k8s.io", "", [cause])
    version = parse_resource_version(query.get("resourceVersion", ""))
    has_initial = send_initial in {"1", "true", "True"} if send_initial else version == 0
    timeout = parse_integer(query.get("timeoutSeconds", ""))
    bookmarks = query.get("allowWatchBookmarks", "") in {"1", "true", "True"}
    return WatchOptions(version, has_initial, bookmarks, float(timeout) if timeout else None)


@dataclass(frozen=True, slots=True)
class ServedWatch:
    """One watch of a client."""

    kind: ServedKind
    objects: RegistryStore
    selection: Selection
    options: WatchOptions
    encode: ObjectEncoder
    bookmark_seconds: float

    async def frames(self) -> AsyncIterator[bytes | WatchEnd]:
        """Yield encoded events until the timeout, or until a WatchEnd, which is the last item."""
        collection = self.objects.collection(self.kind)
        changes: WatchQueue = asyncio.Queue()
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.options.timeout_seconds if self.options.timeout_seconds else None
        collection.watchers.add(changes)
        try:
            try:
                backlog = self._initial_frames(collection)
            except TooOldResourceVersion as err:
                yield _expired_watch_frame(self.kind, self.options.resource_version, err.start)
                return
            for event in backlog:
                yield event
            async for frame in self._live_frames(changes, ends):
                yield frame
        finally:
            collection.watchers.discard(changes)

    def _initial_frames(self, collection: Collection) -> list[bytes]:
        """Return the events before the first live one: changes since a version, or all objects."""
        if not self.options.send_initial_events:
            version = self.options.resource_version or self.objects.storage.version
            changes = collection.changes_since(version)
            return [frame for change in changes if (frame := self._frame(change))]
        frames = [
            objects.encode_watch_event("ADDED", self.encode(stored))
            for stored in collection.ordered()
            if self.selection.matches(stored)
        ]
        if self.options.allow_bookmarks:
            frames.append(self._bookmark(initial_end=True))
        return frames

    async def _live_frames(
        self, changes: WatchQueue, ends: float | None
    ) -> AsyncIterator[bytes | WatchEnd]:
        loop = asyncio.get_running_loop()
        bookmarked = self.objects.storage.version
        while ends is None or loop.time() < ends:
            wait = self.bookmark_seconds
            if ends is not None:
                wait = min(wait, ends - loop.time())
            try:
                change = await asyncio.wait_for(changes.get(), wait)
            except TimeoutError:
                version = self.objects.storage.version
                if (
                    self.options.allow_bookmarks
                    and wait == self.bookmark_seconds
                    and version > bookmarked
                ):
                    bookmarked = version
                    yield self._bookmark(initial_end=False)
                continue
            if isinstance(change, WatchEnd):
                yield change
                return
            frame = self._frame(change)
            if frame:
                yield frame

    def _frame(self, change: StoredChange) -> bytes | None:
        """
        Encode one change: ADDED if the object begins to match the selectors, DELETED if it ceases to.
        """
        if change.resource_version <= self.options.resource_version:
            return None
        before = change.old is not None and self.selection.matches(change.old)
        if change.new is not None and self.selection.matches(change.new):
            return objects.encode_watch_event(
                "MODIFIED" if before else "ADDED", self.encode(change.new)
            )
        if before and change.old is not None:
            return objects.encode_watch_event(
                "DELETED", self.encode(change.old.at_resource_version(change.resource_version))
            )
        return None

    def _bookmark(self, *, initial_end: bool) -> bytes:
        mark = objects.bookmark_object(
            self.kind, self.objects.storage.version, initial_end=initial_end
        )
        return objects.encode_watch_event("BOOKMARK", msgspec.json.encode(mark))


def _expired_watch_frame(kind: ServedKind, version: int, start: int) -> bytes:
    """Encode the ERROR event that tells the client to list again."""
    text = f"too old resource version: {version} ({start})"
    if not kind.is_watch_cached:
        text = "The resourceVersion for the provided watch is too old."
    status = ApiError(410, "Expired", text).status
    return objects.encode_watch_event("ERROR", msgspec.json.encode(status))
