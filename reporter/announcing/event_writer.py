"""One write of one Event: create or patch, never without the lease."""

from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from reporter.kube.errors import Conflict, NotFound, Unreachable
from reporter.kube.event_record import EventRecord, PossibleKeys, WriteResult
from reporter.kube.leadership import Leadership, write_while_leading


class EventSink(Protocol):
    """The Events of this program in the cluster; raises KubeErrors."""

    async def create(self, record: EventRecord) -> None: ...

    async def patch(self, record: EventRecord) -> None: ...

    async def read(self, record: EventRecord) -> EventRecord | None: ...

    async def list(self, possible_keys: PossibleKeys) -> tuple[EventRecord, ...]: ...


class EventWriter:
    """
    Brings a record into the cluster, whatever is there already.

    *count_write* counts every request that succeeded, and patches that found no Event.
    """

    def __init__(
        self,
        sink: EventSink,
        leadership: Leadership,
        *,
        count_write: Callable[[WriteResult], None],
    ) -> None:
        self._sink, self._leadership, self._count_write = sink, leadership, count_write

    async def write(self, record: EventRecord) -> EventRecord:
        """
        Create or patch the Event; returns the record as it is in the cluster then.

        Raises a KubeError. Stops when the lease ends.
        """
        return await write_while_leading(
            self._leadership, self._create_or_patch(record), f"write Event of {record.key}"
        )

    async def _create_or_patch(self, record: EventRecord) -> EventRecord:
        if record.count > 1:
            try:
                await self._sink.patch(record)
            except NotFound:
                self._count_write(WriteResult.EXPIRED)
                self._ensure_leading()
                # Exporters skip an Event that is new but has an old firstTimestamp.
                record = replace(record, first_timestamp=record.last_timestamp)
            else:
                self._count_write(WriteResult.PATCHED)
                return record
        try:
            await self._sink.create(record)
        except Conflict:
            return await self._patch_existing(record)
        self._count_write(WriteResult.CREATED)
        return record

    async def _patch_existing(self, record: EventRecord) -> EventRecord:
        """
        Patch an Event of the same name: an earlier create had arrived, or another leader wrote it.
        """
        existing = await self._sink.read(record)
        if existing is None:
            raise Unreachable(
                f"create Event of {record.key}",
                message="the server says that it exists, and that it does not",
            )
        if existing.message == record.message and existing.content_digest in {
            record.content_digest,
            "",
        }:
            self._count_write(WriteResult.FOUND)
            return replace(existing, content_digest=record.content_digest)
        self._ensure_leading()
        merged = existing.rewrite(record.message, record.content_digest, now=record.last_timestamp)
        await self._sink.patch(merged)
        self._count_write(WriteResult.PATCHED)
        return merged

    def _ensure_leading(self) -> None:
        if not self._leadership.holds_lease():
            raise Unreachable("write an Event", message="the lease was lost during the write")
