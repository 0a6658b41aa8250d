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

from reporter.embedded.statuses import Json


class TooOld(Exception):
    """
    The history does not reach back so far; *start* is how far it does.
    """

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.start = start


@dataclass(frozen=True, slots=True)
class Stored:
    """
    An object as JSON without kind and apiVersion, which depend on the version it is asked for in.
    """

    namespace: str
    name: str
    version: int
    value: Json
    data: bytes

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def fresh(self) -> Json:
        """
        A copy to change.
        """
        copy: Json = msgspec.json.decode(self.data)
        return copy

    def at(self, version: int) -> "Stored":
        value = self.fresh()
        value["metadata"]["resourceVersion"] = str(version)
        return Stored(self.namespace, self.name, version, value, msgspec.json.encode(value))


@dataclass(frozen=True, slots=True)
class Change:
    version: int
    key: str
    old: Stored | None
    new: Stored | None


@unique
class Ending(Enum):
    """
    How a watch ends when it is not the client who ends it.
    """

    CLEAN = "the stream ends"
    EXPIRED = "an ERROR event with 410"
    CUT = "the connection breaks"
    SILENT = "nothing comes any more"


Delivery = asyncio.Queue[Change | Ending]


@dataclass(slots=True)
class Collection:
    """
    All objects of one resource.
    """

    start: int
    """
    Every change after this version is still known.
    """
    limit: int
    objects: dict[str, Stored] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    history: deque[Change] = field(default_factory=deque)
    watchers: set[Delivery] = field(default_factory=set)

    def record(self, change: Change) -> None:
        if change.new is None:
            del self.objects[change.key]
            del self.keys[bisect_left(self.keys, change.key)]
        else:
            if change.key not in self.objects:
                insort(self.keys, change.key)
            self.objects[change.key] = change.new
        self.history.append(change)
        while len(self.history) > self.limit:
            self.start = self.history.popleft().version
        for watcher in self.watchers:
            watcher.put_nowait(change)

    def since(self, version: int) -> list[Change]:
        if version < self.start:
            raise TooOld(self.start)
        return [change for change in self.history if change.version > version]

    def at(self, version: int) -> tuple[list[str], dict[str, Stored]]:
        """
        Keys in order and objects as they were at *version*.
        """
        later = self.since(version)
        if not later:
            return self.keys, self.objects
        then = dict(self.objects)
        for change in reversed(later):
            if change.old is None:
                then.pop(change.key, None)
            else:
                then[change.key] = change.old
        return sorted(then), then

    def in_order(self) -> Iterator[Stored]:
        return (self.objects[key] for key in self.keys)

    def forget(self, version: int) -> None:
        self.history.clear()
        self.start = version

    def end_watches(self, ending: Ending) -> None:
        for watcher in self.watchers:
            watcher.put_nowait(ending)


class Storage:
    """
    Every collection; what etcd is to the real server.
    """

    def __init__(self, *, history_limit: int) -> None:
        self.version = 1
        self.collections: dict[tuple[str, str], Collection] = {}
        self._limit = history_limit

    def collection(self, group: str, resource: str) -> Collection:
        found = self.collections.get((group, resource))
        if found is None:
            found = Collection(start=self.version, limit=self._limit)
            self.collections[group, resource] = found
        return found

    def write(self, collection: Collection, value: Json) -> Stored:
        """
        Store *value*, which the caller gives away, under a new version.
        """
        self.version += 1
        meta = value["metadata"]
        meta["resourceVersion"] = str(self.version)
        new = Stored(
            meta.get("namespace", ""),
            meta["name"],
            self.version,
            value,
            msgspec.json.encode(value),
        )
        old = collection.objects.get(new.key)
        collection.record(Change(self.version, new.key, old, new))
        return new

    def remove(self, collection: Collection, key: str) -> Stored:
        """
        The last state, under the version of its deletion.
        """
        self.version += 1
        old = collection.objects[key]
        collection.record(Change(self.version, key, old, None))
        return old.at(self.version)

    def forget_history(self) -> None:
        """
        What a compaction of etcd or a restart of the API server does to watches and pages.
        """
        for collection in self.collections.values():
            collection.forget(self.version)
