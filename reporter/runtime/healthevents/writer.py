"""
One write to one HealthEvent.
"""

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from reporter.kube.objects.event_format import event_labels
from reporter.kube.wire.errors import (
    Conflict,
    NotFound,
)
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.productionstack.health_event_writes import StoreWriteResult
from reporter.model.kinds.productionstack.health_events import HealthEvent, HealthEventSpec
from reporter.runtime.announcing.announcements import Announcements
from reporter.stages.healthevents.content import make_spec, make_status_patch
from reporter.stages.healthevents.writes import Create, Json, Patch
from reporter.stages.store.written_objects import WrittenObjectStore


Write: TypeAlias = Create | Patch | HealthEvent
"""
The step to take for one object; a bare one is deleted.
"""


class StoreWriter(Protocol):
    """
    The form in which one backend keeps episodes.
    """

    async def write(self, write: Write, version: str) -> StoreWriteResult: ...


class HealthEventSink(Protocol):
    """
    The HealthEvents in the cluster; raises KubeErrors.
    """

    async def create(
        self, name: str, labels: Mapping[str, str], spec: HealthEventSpec, *, version: str
    ) -> HealthEvent: ...

    async def patch(self, found: HealthEvent, patch: Json, *, version: str) -> HealthEvent: ...

    async def delete(self, found: HealthEvent, *, version: str) -> None: ...


class HealthEventWriter:
    """
    Makes the content of a write at the moment of sending, and updates the store with its result.
    """

    def __init__(
        self,
        sink: HealthEventSink,
        objects: WrittenObjectStore[HealthEvent],
        announcements: Announcements,
        kind: ResourceKind,
    ) -> None:
        self._sink, self._objects, self._announcements = sink, objects, announcements
        self._kind = kind

    async def write(self, write: Write, version: str) -> StoreWriteResult:
        """
        Send one write; returns its result. Raises the KubeErrors that are failures.
        """
        try:
            match write:
                case Create():
                    return await self._create(write, version)
                case Patch():
                    return await self._patch(write, version)
                case HealthEvent():
                    await self._sink.delete(write, version=version)
                    return StoreWriteResult.DELETED
        except NotFound:
            if isinstance(write, Create):
                raise
            # The watch shows it in a moment; if it has missed it, nothing else would.
            meta = (write.found if isinstance(write, Patch) else write).metadata
            self._objects.delete(self._kind, meta.namespace, meta.name)
            return StoreWriteResult.GONE

    async def _create(self, create: Create, version: str) -> StoreWriteResult:
        labels = event_labels(create.episode.record)
        spec = make_spec(create.episode, create.node, self._announcements.publish_context())
        try:
            created = await self._sink.create(create.name, labels, spec, version=version)
        except Conflict:
            # Deterministic names: this very episode is there, and the watch will show it.
            return StoreWriteResult.FOUND
        self._objects.created(created)
        return StoreWriteResult.CREATED

    async def _patch(self, patch: Patch, version: str) -> StoreWriteResult:
        body = make_status_patch(patch, self._announcements.publish_context())
        patched = await self._sink.patch(patch.found, body, version=version)
        self._objects.written(patch.found, patched)
        return StoreWriteResult.PATCHED
