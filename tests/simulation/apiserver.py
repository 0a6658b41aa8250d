"""
The two things that replicas write: Events, kept as the API server keeps them, and one Lease.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from reporter.kube.errors import Conflict, NotFound
from reporter.kube.event_format import Foreign, decode_event, encode_event, encode_patch
from reporter.kube.event_names import event_name
from reporter.kube.leases import Lease
from reporter.model.events import EventRecord
from reporter.model.leases import LeaseRecord
from tests.simulation.agenda import Agenda
from tests.simulation.network import Network


@dataclass(frozen=True, slots=True)
class Write:
    """
    One that arrived. *verb*: create or patch.
    """

    at: float
    verb: str
    name: str
    record: EventRecord


@dataclass
class Events:
    """
    *ttl*: seconds after its last write that an Event lasts. *vanished*: when one of a subject went.
    """

    agenda: Agenda
    ttl: float = 7200.0
    objects: dict[str, dict] = field(default_factory=dict)
    expires: dict[str, float] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    vanished: list[tuple[float, EventRecord]] = field(default_factory=list)
    heard: Callable[[Write], None] = lambda _: None

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
        patch = encode_patch(record, instance=instance)
        metadata = {**before["metadata"], **patch.pop("metadata")}
        after = {**before, **patch, "metadata": metadata}
        self._put("patch", name, {k: v for k, v in after.items() if v is not None})

    def read(self, record: EventRecord) -> EventRecord | None:
        self._expire()
        found = self.objects.get(event_name(record))
        return _decoded(found) if found is not None else None

    def list(self) -> tuple[EventRecord, ...]:
        self._expire()
        return tuple(_decoded(each) for each in self.objects.values())

    def delete(self, name: str, *, at: float | None = None) -> None:
        record = _decoded(self.objects.pop(name))
        self.vanished.append((self.agenda.now if at is None else at, record))

    def _put(self, verb: str, name: str, body: dict) -> None:
        self.objects[name] = json.loads(json.dumps(body))
        self.expires[name] = self.agenda.now + self.ttl
        write = Write(self.agenda.now, verb, name, _decoded(body))
        self.writes.append(write)
        self.heard(write)

    def _expire(self) -> None:
        for name in [n for n in self.objects if self.expires[n] <= self.agenda.now]:
            self.delete(name, at=self.expires[name])


def _decoded(body: dict) -> EventRecord:
    record = decode_event(msgspec.json.encode(body))
    assert not isinstance(record, Foreign), record
    return record


@dataclass
class Leases:
    record: LeaseRecord | None = None
    version: int = 0

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
        if lease.source != str(self.version).encode():
            raise Conflict("update lease")
        return self._put(record)

    def _put(self, record: LeaseRecord) -> Lease:
        self.record, self.version = record, self.version + 1
        return Lease(record, str(self.version).encode())


@dataclass
class LeaseWire:
    leases: Leases
    network: Network

    async def read(self) -> Lease | None:
        return await self.network.call(self.leases.read, "read lease")

    async def create(self, record: LeaseRecord) -> Lease:
        return await self.network.call(lambda: self.leases.create(record), "create lease")

    async def update(self, lease: Lease, record: LeaseRecord) -> Lease:
        return await self.network.call(lambda: self.leases.update(lease, record), "update lease")


@dataclass
class EventWire:
    """
    *sending* is told of each write at the moment at which it is sent, and with None of a read-back.
    """

    events: Events
    network: Network
    instance: str
    sending: Callable[[EventRecord | None], None]

    async def create(self, record: EventRecord) -> None:
        self.sending(record)
        await self.network.call(lambda: self.events.create(record, self.instance), "create")

    async def patch(self, record: EventRecord) -> None:
        self.sending(record)
        await self.network.call(lambda: self.events.patch(record, self.instance), "patch")

    async def read(self, record: EventRecord) -> EventRecord | None:
        return await self.network.call(lambda: self.events.read(record), "read")

    async def list(self) -> tuple[EventRecord, ...]:
        self.sending(None)
        return await self.network.call(self.events.list, "list")
