"""
Objects and their history, with one resourceVersion counter.

Rule 1: stored objects are never changed in place, as watchers still use the old ones.
Rule 2: this file does not interpret objects.
"""

import asyncio
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, unique

import msgspec

from devcluster.schema.api_errors import Json


HISTORY_LIMIT = 10_000
"""Changes kept for each resource; a watch or page of an earlier version gets 410."""


class TooOldResourceVersion(Exception):
    """A version before the history, which begins at *start*."""

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.start = start


def object_key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


@dataclass(frozen=True, slots=True)
class StoredObject:
    """
    An object without kind and apiVersion, as these depend on the requested version.

    *data* is *value* as JSON.
    """

    namespace: str
    name: str
    resource_version: int
    value: Json
    data: bytes

    @property
    def key(self) -> str:
        return object_key(self.namespace, self.name)

    def mutable_copy(self) -> Json:
        copy: Json = msgspec.json.decode(self.data)
        return copy

    def at_resource_version(self, version: int) -> "StoredObject":
        value = self.mutable_copy()
        value["metadata"]["resourceVersion"] = str(version)
        return StoredObject(self.namespace, self.name, version, value, msgspec.json.encode(value))


@dataclass(frozen=True, slots=True)
class StoredChange:
    resource_version: int
    key: str
    old: StoredObject | None
    new: StoredObject | None


@unique
class WatchEnd(Enum):
    """The ways in which the server ends a watch."""

    CLEAN = "the stream ends"
    CONNECTION_CUT = "the connection breaks"


WatchQueue = asyncio.Queue[StoredChange | WatchEnd]


@dataclass(slots=True)
class Collection:
    """The objects of one resource, their history and its watchers."""

    oldest_resource_version: int
    """The history has every change after this version."""
    objects: dict[str, StoredObject] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    history: deque[StoredChange] = field(default_factory=deque)
    watchers: set[WatchQueue] = field(default_factory=set)

    def record(self, change: StoredChange) -> None:
        if change.new is None:
            del self.objects[change.key]
            del self.keys[bisect_left(self.keys, change.key)]
        else:
            if change.key not in self.objects:
                insort(self.keys, change.key)
            self.objects[change.key] = change.new
        self.history.append(change)
        while len(self.history) > HISTORY_LIMIT:
            self.oldest_resource_version = self.history.popleft().resource_version
        for watcher in self.watchers:
            watcher.put_nowait(change)

    def changes_since(self, version: int) -> list[StoredChange]:
        if version < self.oldest_resource_version:
            raise TooOldResourceVersion(self.oldest_resource_version)
        return [change for change in self.history if change.resource_version > version]

    def objects_at(self, version: int) -> tuple[list[str], dict[str, StoredObject]]:
        """Return the sorted keys and the objects as they were at *version*."""
        later = self.changes_since(version)
        if not later:
            return self.keys, self.objects
        past = dict(self.objects)
        for change in reversed(later):
            if change.old is None:
                past.pop(change.key, None)
            else:
                past[change.key] = change.old
        return sorted(past), past

    def ordered(self) -> Iterator[StoredObject]:
        return (self.objects[key] for key in self.keys)

    def compact_history(self, version: int) -> None:
        self.history.clear()
        self.oldest_resource_version = version

    def end_watches(self, ending: WatchEnd) -> None:
        for watcher in self.watchers:
            watcher.put_nowait(ending)


class Storage:
    """All collections, in the role of etcd."""

    def __init__(self) -> None:
        self.version = 1
        self.collections: dict[tuple[str, str], Collection] = {}

    def collection(self, group: str, resource: str) -> Collection:
        found = self.collections.get((group, resource))
        if found is None:
            found = Collection(oldest_resource_version=self.version)
            self.collections[group, resource] = found
        return found

    def write(self, collection: Collection, value: Json) -> StoredObject:
        """Store *value* under a new version; the caller must not use it any more."""
        self.version += 1
        meta = value["metadata"]
        meta["resourceVersion"] = str(self.version)
        new = StoredObject(
            meta.get("namespace", ""),
            meta["name"],
            self.version,
            value,
            msgspec.json.encode(value),
        )
        old = collection.objects.get(new.key)
        collection.record(StoredChange(self.version, new.key, old, new))
        return new

    def remove(self, collection: Collection, key: str) -> StoredObject:
        """Remove an object and return its last state with the version of its deletion."""
        self.version += 1
        old = collection.objects[key]
        collection.record(StoredChange(self.version, key, old, None))
        return old.at_resource_version(self.version)

    def compact_history(self) -> None:
        """Forget the history, as a compaction of etcd or a restart of the API server does."""
        for collection in self.collections.values():
            collection.compact_history(self.version)
