"""Episodes in NVSentinel's kind: the objects as the plan sees them, and what a write becomes."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime

from reporter.announcing.announcements import Announcements
from reporter.history import node_events
from reporter.history.content import make_spec
from reporter.history.existing import Create, Patch
from reporter.history.writer import PlannedWrite, is_about_lost_reason
from reporter.kinds.health_events import HealthEvent, StoreWriteResult
from reporter.kinds.nvsentinel import NodeHealthEvent, NodeHealthEventSpec, find_altered_field
from reporter.kinds.objects import NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube import event_format
from reporter.kube.decoding import Json
from reporter.kube.errors import Conflict, Invalid, NotFound
from reporter.kube.object_client import NO_ANNOTATIONS, STRICT, ObjectClient
from reporter.model.observations import WatchState
from reporter.process.subscribers import Subscribers
from reporter.store.written_objects import WrittenObjectStore


ALTERED = (
    "the CRD {} does not keep {} as it was written, so an object could have its node cordoned; nothing"
    " more is created until it does and the reporter is restarted"
)

_UNKNOWN_FIELD = re.compile(r'unknown field "([^"]+)"')
"""
A part of the API server's message about a field that a CRD does not have (apimachinery,
pkg/runtime/error.go, strictDecodingError; sigs.k8s.io/json).
"""


class NodeEpisodeStore:
    """The objects of NVSentinel's kind, each pair of fault and recovery shown as one HealthEvent."""

    def __init__(self, events: WrittenObjectStore[NodeHealthEvent]) -> None:
        self.events = events
        self._paired: tuple[int, node_events.NodeEpisodes] = (-1, node_events.pair_objects(()))

    @property
    def watch_state(self) -> WatchState:
        """The state of the watch of NVSentinel's HealthEvents; without it nothing is planned."""
        return self.events.watch_state

    def served_version(self, kind: ResourceKind, /) -> str | None:
        """Return the API version to write to; None while the CRD is not served."""
        return self.events.served_version(kind)

    @property
    def changes(self) -> Subscribers[[]]:
        """The subscribers to notify whenever an object of this program has changed in the cluster."""
        return self.events.changes

    @property
    def unfit(self) -> frozenset[str]:
        """The names of faults of which some object may trigger remediation; they are deleted."""
        return self._episodes.unfit

    @property
    def objects(self) -> Mapping[NamespacedName, HealthEvent]:
        """
        The episodes as HealthEvents, one for each pair of fault and recovery, by the name of the fault.
        """
        return {
            (each.found.metadata.namespace, name): each.found
            for name, each in self._episodes.by_name.items()
        }

    @property
    def undecodable(self) -> frozenset[NamespacedName]:
        """The objects that cannot be read as an episode, whose places count all the same."""
        return self.events.undecodable | {("", name) for name in self._episodes.unread}

    def objects_of(self, found: HealthEvent) -> tuple[NodeHealthEvent, ...]:
        """Return the fault of an episode and its recovery, as far as they are there."""
        episode = self._episodes.by_name.get(found.metadata.name)
        return episode.objects if episode is not None else ()

    @property
    def _episodes(self) -> node_events.NodeEpisodes:
        if self._paired[0] != self.events.revision:
            pairs = node_events.pair_objects(self.events.objects.values())
            self._paired = (self.events.revision, pairs)
        return self._paired[1]


class NodeEventWriter:
    """Creates faults and recoveries, and deletes both. *now*: returns the time of a recovery."""

    has_course = False
    name_of = staticmethod(event_format.node_event_name)
    dropped: Mapping[str, Json] = {}

    def __init__(
        self,
        sink: ObjectClient[NodeHealthEvent],
        objects: NodeEpisodeStore,
        announcements: Announcements,
        kind: ResourceKind,
        now: Callable[[], datetime],
    ) -> None:
        self._sink, self.objects, self._announcements = sink, objects, announcements
        self.kind, self._now = kind, now
        self._altered_field = ""

    async def write(self, planned: PlannedWrite) -> StoreWriteResult:
        """
        Create a fault, its recovery, or delete both, as the write says; return the result.

        Raise Invalid, and create nothing more, if the CRD does not keep an object as it was written.
        """
        write, version = planned
        if is_about_lost_reason(write, self._announcements):
            return StoreWriteResult.GONE
        match write:
            case Create():
                context, record = self._announcements.publish_context(), write.episode.record
                fault = node_events.make_fault(make_spec(write.episode, write.node, context))
                return await self._create(
                    *(write.name, event_format.event_labels(record), fault, version),
                    annotations=event_format.episode_annotations(record),
                )
            case Patch():
                return await self._end(write, version)
            case HealthEvent():
                return await self._delete(write, version)

    async def _end(self, patch: Patch, version: str) -> StoreWriteResult:
        """Create the recovery, or delete the objects of what goes on."""
        found, existing = patch.found, self.objects.objects.values()
        context = self._announcements.publish_context()
        recovery = node_events.find_recovery(patch, existing, context, now=self._now())
        if recovery is None:
            return await self._delete(found, version)
        labels = found.metadata.labels or {}
        return await self._create(
            event_format.recovery_name(found.metadata.name), labels, recovery, version
        )

    async def _create(
        self,
        name: str,
        labels: Mapping[str, str],
        spec: NodeHealthEventSpec,
        version: str,
        *,
        annotations: Mapping[str, str] = NO_ANNOTATIONS,
    ) -> StoreWriteResult:
        """
        Create an object, and read back what was stored of it.

        One that is not as it was meant could trigger remediation: it is deleted, and nothing is created
        any more. Nobody knows what the next one would trigger before it is deleted.
        """
        operation = f"create {self.kind.group_resource} {name}"
        if self._altered_field:
            raise Invalid(operation, message=self._why_refused())
        try:
            created = await self._sink.create(
                name, labels, spec, version=version, query=STRICT, annotations=annotations
            )
        except Conflict:
            # Deterministic names: this very object is there, and the watch will show it.
            return StoreWriteResult.FOUND
        except Invalid as err:
            unknown = _UNKNOWN_FIELD.search(err.message)
            if unknown is None:
                raise
            self._altered_field = unknown[1]
            raise Invalid(operation, status=err.status, message=self._why_refused()) from err
        self._altered_field = find_altered_field(spec, created.spec)
        if self._altered_field:
            await self._sink.delete(created, version=version)
            raise Invalid(operation, message=self._why_refused())
        self.objects.events.created(created)
        return StoreWriteResult.CREATED

    def _why_refused(self) -> str:
        return ALTERED.format(self.kind.group_resource, self._altered_field)

    async def _delete(self, found: HealthEvent, version: str) -> StoreWriteResult:
        """Delete the fault first: without its recovery it would be Active again."""
        result = StoreWriteResult.DELETED
        for each in self.objects.objects_of(found):
            meta = each.metadata
            try:
                await self._sink.delete(each, version=version)
            except NotFound:
                # The watch shows it in a moment; if it has missed it, nothing else would.
                self.objects.events.delete(self.kind, meta.namespace, meta.name)
                result = StoreWriteResult.GONE
        return result
