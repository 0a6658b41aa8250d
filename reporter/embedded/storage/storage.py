"""
Objects and their history, under one counter of versions.

Rule 1: what is stored is never changed in place; a change is a new object, and watchers keep the
old one.
Rule 2: this file does not know what an object means.
"""

import asyncio
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, unique

import msgspec

from reporter.embedded.schema.api_errors import Json


HISTORY_LIMIT = 10_000
"""
Changes of one resource that watches and pages can go back to.
"""


class TooOldResourceVersion(Exception):
    """
    The history does not reach back so far; *start* is how far it does.
    """

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.start = start


def object_key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


@dataclass(frozen=True, slots=True)
class StoredObject:
    """
    An object as JSON without kind and apiVersion, which depend on the version it is asked for in.
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
        """
        A copy to change.
        """
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
    """
    How a watch ends when it is not the client who ends it.
    """

    CLEAN = "the stream ends"
    CONNECTION_CUT = "the connection breaks"


WatchQueue = asyncio.Queue[StoredChange | WatchEnd]


@dataclass(slots=True)
class Collection:
    """
    All objects of one resource.
    """

    oldest_resource_version: int
    """
    Every change after this version is still known.
    """
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
        """
        Keys in order and objects as they were at *version*.
        """
        later = self.changes_since(version)
        if not later:
            return self.keys, self.objects
        then = dict(self.objects)
        for change in reversed(later):
            if change.old is None:
                then.pop(change.key, None)
            else:
                then[change.key] = change.old
        return sorted(then), then

    def ordered(self) -> Iterator[StoredObject]:
        return (self.objects[key] for key in self.keys)

    def compact_history(self, version: int) -> None:
        self.history.clear()
        self.oldest_resource_version = version

    def end_watches(self, ending: WatchEnd) -> None:
        for watcher in self.watchers:
            watcher.put_nowait(ending)


class Storage:
    """
    Every collection; what etcd is to the real server.
    """

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
        """
        Store *value*, which the caller gives away, under a new version.
        """
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
        """
        The last state, under the version of its deletion.
        """
        self.version += 1
        old = collection.objects[key]
        collection.record(StoredChange(self.version, key, old, None))
        return old.at_resource_version(self.version)

    def compact_history(self) -> None:
        """
        What a compaction of etcd or a restart of the API server does to watches and pages.
        """
        for collection in self.collections.values():
            collection.compact_history(self.version)
