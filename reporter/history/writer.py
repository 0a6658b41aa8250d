"""One write to one HealthEvent."""

import logging
from collections.abc import Mapping
from typing import NamedTuple, Protocol, TypeAlias

from reporter.announcing.announcements import Announcements, StoredEpisodes
from reporter.history.content import make_spec, make_status_patch
from reporter.history.existing import SILENCED, Create, Patch
from reporter.kinds.health_events import HealthEvent, StoreWriteResult
from reporter.kinds.objects import NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.decoding import Json
from reporter.kube.errors import Conflict, NotFound
from reporter.kube.event_format import episode_annotations, event_labels, health_event_name
from reporter.kube.event_record import EventRecord
from reporter.kube.object_client import ObjectClient
from reporter.store.written_objects import WrittenObjectStore


CRD_TOO_OLD = (
    "the CRD %s has no field for the silence of an episode, so HealthEvents do not show it; the CRD is"
    " of an earlier release: apply that of the chart"
)

logger = logging.getLogger(__name__)

Write: TypeAlias = Create | Patch | HealthEvent
"""The step to take for one object; a bare one is deleted."""


class PlannedWrite(NamedTuple):
    """A write that is due, and the API version to send it with."""

    write: Write
    version: str


class HeldObjects(StoredEpisodes, Protocol):
    """The stored episodes, with what a plan of writes needs beside them."""

    @property
    def undecodable(self) -> frozenset[NamespacedName]:
        """The objects that cannot be decoded, which take places all the same."""

    @property
    def unfit(self) -> frozenset[str]:
        """The names of objects that are not stored as they were meant, and are deleted at once."""

    def served_version(self, kind: ResourceKind, /) -> str | None:
        """Return the API version to write a kind with; None while its CRD is not served."""


class EpisodeBackend(Protocol):
    """
    The form in which one backend keeps episodes.

    *has_course*: objects show other causes and suffixes of their episodes.
    """

    has_course: bool
    kind: ResourceKind

    @property
    def objects(self) -> HeldObjects:
        """The objects in the cluster, in the form that plans are made from."""

    @property
    def dropped(self) -> Mapping[str, Json]:
        """The silence of each object that its CRD has no field for."""

    def name_of(self, record: EventRecord, node: str, /) -> str:
        """Return the name of the object of an Event and a node; "" if none is kept."""

    async def write(self, planned: PlannedWrite) -> StoreWriteResult:
        """
        Send one write; returns its result. Raises the KubeErrors that are failures.

        Nothing is sent about a reason that the catalogue has lost since the write was planned.
        """


class HealthEventWriter:
    """
    Makes the content of a write at the moment of sending, and updates the store with its result.
    """

    has_course = True
    name_of = staticmethod(health_event_name)

    def __init__(
        self,
        sink: ObjectClient[HealthEvent],
        objects: WrittenObjectStore[HealthEvent],
        announcements: Announcements,
        kind: ResourceKind,
    ) -> None:
        self._sink, self.objects, self._announcements = sink, objects, announcements
        self.kind = kind
        self.dropped: dict[str, Json] = {}

    async def write(self, planned: PlannedWrite) -> StoreWriteResult:
        """
        Create, patch or delete one HealthEvent, as the write says; return the result.

        An object that is gone meanwhile counts as GONE and leaves the store. One that is there already
        counts as FOUND.
        """
        write, version = planned
        if is_about_lost_reason(write, self._announcements):
            return StoreWriteResult.GONE
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
            self.objects.delete(self.kind, meta.namespace, meta.name)
            return StoreWriteResult.GONE

    async def _create(self, create: Create, version: str) -> StoreWriteResult:
        record = create.episode.record
        spec = make_spec(create.episode, create.node, self._announcements.publish_context())
        try:
            created = await self._sink.create(
                create.name,
                event_labels(record),
                spec,
                version=version,
                annotations=episode_annotations(record),
            )
        except Conflict:
            # Deterministic names: this very episode is there, and the watch will show it.
            return StoreWriteResult.FOUND
        self.objects.created(created)
        return StoreWriteResult.CREATED

    async def _patch(self, patch: Patch, version: str) -> StoreWriteResult:
        body = make_status_patch(patch, self._announcements.publish_context())
        patched = await self._sink.patch(patch.found, body, version=version)
        self._note_dropped(patch, patched)
        self.objects.written(patch.found, patched)
        return StoreWriteResult.PATCHED

    def _note_dropped(self, patch: Patch, patched: HealthEvent) -> None:
        """
        Note a silence that the API server did not keep: a CRD of an earlier release has no such field.
        """
        name, desired = patch.found.metadata.name, patch.status.get(SILENCED)
        if not desired:
            return
        if SILENCED in (patched.status or {}):
            self.dropped.pop(name, None)
            return
        if not self.dropped:
            logger.error(CRD_TOO_OLD, self.kind.group_resource)
        there = {each for _, each in self.objects.objects}
        self.dropped = {n: each for n, each in self.dropped.items() if n in there}
        self.dropped[name] = desired


def is_about_lost_reason(write: Write, announcements: Announcements) -> bool:
    """Return whether the catalogue has lost the reason of a write since this was planned."""
    episode = write.episode if isinstance(write, Create | Patch) else None
    if episode is None:
        return False
    entry = announcements.publish_context().catalogue.entries.get(episode.key.reason)
    return entry is None or not entry.is_evaluated
