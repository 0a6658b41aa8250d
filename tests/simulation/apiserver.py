"""The two things that replicas write: Events, stored as the API server does, and one Lease."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from reporter.kube.errors import Conflict, NotFound
from reporter.kube.event_format import (
    ForeignEvent,
    decode_event,
    encode_event,
    encode_event_patch,
    event_name,
)
from reporter.kube.event_record import EventRecord, PossibleKeysFunc
from reporter.kube.lease_rules import LeaseRecord
from reporter.kube.leases import Lease
from tests.simulation.network import SimulatedNetwork
from tests.support.virtual_clock import VirtualClock


T = TypeVar("T", bound=Lease | None)


@dataclass(frozen=True, slots=True)
class EventWrite:
    """A write that arrived. *verb*: create or patch."""

    at: float
    verb: str
    name: str
    record: EventRecord


@dataclass
class EventStore:
    """
    The Events of the API server.

    *ttl*: the seconds after its last write for which an Event exists.
    *deleted*: every deleted or expired Event, and when.
    """

    clock: VirtualClock
    ttl: float = 7200.0
    objects: dict[str, dict] = field(default_factory=dict)
    expires: dict[str, float] = field(default_factory=dict)
    writes: list[EventWrite] = field(default_factory=list)
    deleted: list[tuple[float, EventRecord]] = field(default_factory=list)
    on_write: Callable[[EventWrite], None] = lambda _: None

    def create(self, record: EventRecord, instance: str) -> None:
        name = event_name(record)
        self._expire()
        if name in self.objects:
            raise Conflict("create event")
        self._put("create", name, encode_event(record, instance=instance))

    def patch(self, record: EventRecord, instance: str) -> None:
        name = event_name(record)
        self._expire()
        if name not in self.objects:
            raise NotFound("patch event")
        before = self.objects[name]
        patch = encode_event_patch(record, instance=instance)
        metadata = {**before["metadata"], **patch.pop("metadata")}
        after = {**before, **patch, "metadata": metadata}
        self._put("patch", name, {k: v for k, v in after.items() if v is not None})

    def read(self, record: EventRecord) -> EventRecord | None:
        self._expire()
        body = self.objects.get(event_name(record))
        return _decoded(body) if body is not None else None

    def list(self) -> tuple[EventRecord, ...]:
        self._expire()
        return tuple(_decoded(each) for each in self.objects.values())

    def delete(self, name: str, *, at: float | None = None) -> None:
        record = _decoded(self.objects.pop(name))
        self.deleted.append((self.clock.now if at is None else at, record))

    def _put(self, verb: str, name: str, body: dict) -> None:
        self.objects[name] = json.loads(json.dumps(body))
        self.expires[name] = self.clock.now + self.ttl
        write = EventWrite(self.clock.now, verb, name, _decoded(body))
        self.writes.append(write)
        self.on_write(write)

    def _expire(self) -> None:
        for name in [n for n in self.objects if self.expires[n] <= self.clock.now]:
            self.delete(name, at=self.expires[name])


def _decoded(body: dict) -> EventRecord:
    record = decode_event(msgspec.json.encode(body))
    assert not isinstance(record, ForeignEvent), record
    return record


@dataclass
class LeaseStore:
    """
    The Lease of the API server.

    *deleted_at*: when somebody deleted it last.
    """

    clock: VirtualClock
    record: LeaseRecord | None = None
    version: int = 0
    deleted_at: float = float("-inf")

    def read(self) -> Lease | None:
        if self.record is None:
            return None
        return Lease(self.record, str(self.version).encode())

    def create(self, record: LeaseRecord) -> Lease:
        if self.record is not None:
            raise Conflict("create lease")
        return self._put(record)

    def update(self, lease: Lease, record: LeaseRecord) -> Lease:
        if self.record is None:
            raise NotFound("update lease")
        if lease.raw != str(self.version).encode():
            raise Conflict("update lease")
        return self._put(record)

    def delete(self) -> None:
        self.record, self.deleted_at = None, self.clock.now

    def _put(self, record: LeaseRecord) -> Lease:
        self.record, self.version = record, self.version + 1
        return Lease(record, str(self.version).encode())


@dataclass
class SimulatedLeaseLock:
    """The lock of one replica. *first_seen_at*: when it saw the Lease for the first time."""

    leases: LeaseStore
    network: SimulatedNetwork
    first_seen_at: float = float("inf")

    async def read(self) -> Lease | None:
        return self._seen(await self.network.call(self.leases.read, "read lease"))

    async def create(self, record: LeaseRecord) -> Lease:
        return self._seen(
            await self.network.call(lambda: self.leases.create(record), "create lease")
        )

    async def update(self, lease: Lease, record: LeaseRecord) -> Lease:
        return self._seen(
            await self.network.call(lambda: self.leases.update(lease, record), "update lease")
        )

    def _seen(self, lease: T) -> T:
        if lease is not None:
            self.first_seen_at = min(self.first_seen_at, self.leases.clock.now)
        return lease


@dataclass
class SimulatedEventClient:
    """
    The Event client of one replica.

    *on_send*: called with each Event when it is sent, and with None when Events are read back.
    """

    events: EventStore
    network: SimulatedNetwork
    instance: str
    on_send: Callable[[EventRecord | None], None]

    async def create(self, record: EventRecord) -> None:
        self.on_send(record)
        await self.network.call(lambda: self.events.create(record, self.instance), "create")

    async def patch(self, record: EventRecord) -> None:
        self.on_send(record)
        await self.network.call(lambda: self.events.patch(record, self.instance), "patch")

    async def read(self, record: EventRecord) -> EventRecord | None:
        return await self.network.call(lambda: self.events.read(record), "read")

    async def list(self, possible_keys: PossibleKeysFunc) -> tuple[EventRecord, ...]:
        self.on_send(None)
        return await self.network.call(self.events.list, "list")
