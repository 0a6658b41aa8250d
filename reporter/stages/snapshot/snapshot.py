"""
What a pass reads: every kept object and how well it is seen, at one moment.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from reporter.model.enums import Reason
from reporter.model.kinds.objects import ApiObject, Condition, Pod
from reporter.model.kinds.resource_kinds import ResourceKind
from reporter.model.observations import (
    WATCH_LOSS_TOLERANCE,
    CRDPresence,
    NotServed,
    NotSynced,
    Watching,
    WatchLost,
    WatchState,
)
from reporter.model.samples import ContainerRun, ScrapeHistory
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.cow_map import FrozenMap, empty_map


NamespacedName = tuple[str, str]
"""
Namespace ("" for cluster-scoped objects) and name.
"""

T = TypeVar("T", bound=ApiObject)


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """
    The objects of one kind by name, and by index key, those in the order of their names.

    *members* is the same object as long as the kind stands for the same subjects.
    """

    objects: FrozenMap[NamespacedName, ApiObject]
    index: FrozenMap[str, tuple[ApiObject, ...]]
    watch_state: WatchState
    subjects_token: object


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    Immutable, as nothing that it refers to is ever changed.

    *gone*: uid of what was seen and is not there any more. *spoilt*: objects whose newest version
    could not be read. *presences*: by ``resource.group``. *windows*: what pods' pages said.
    *refusals*: why the nodes of a Workspace were refused last, while that is not overcome.
    """

    tables: Mapping[str, TableSnapshot]
    presences: Mapping[str, CRDPresence]
    deleted_uids: Mapping[ObjectRef, str]
    undecodable: frozenset[ObjectRef]
    scrape_histories: FrozenMap[tuple[str, str, Reason], ScrapeHistory] = field(
        default_factory=empty_map
    )
    provisioning_errors: FrozenMap[NamespacedName, Condition] = field(default_factory=empty_map)

    def get(self, kind: ResourceKind, type_: type[T], namespace: str, name: str) -> T | None:
        found = self.tables[kind.resource].objects.get((namespace, name))
        return found if isinstance(found, type_) else None

    def by_index(self, kind: ResourceKind, type_: type[T], key: str) -> tuple[T, ...]:
        """
        Objects under an index key, in the order of their names.
        """
        found = self.tables[kind.resource].index.get(key) or ()
        return tuple([each for each in found if isinstance(each, type_)])

    def all(self, kind: ResourceKind) -> Iterator[ApiObject]:
        return self.tables[kind.resource].objects.values()

    def scrape_history(self, pod: Pod, reason: Reason) -> ScrapeHistory | None:
        """
        Return what the scrape of this reason read in the pod's current run; None before any attempt.
        """
        found = self.scrape_histories.get((pod.metadata.namespace, pod.metadata.name, reason))
        return found if found is not None and found.run == ContainerRun.of_pod(pod) else None

    def provisioning_error(self, workspace: ApiObject) -> Condition | None:
        return self.provisioning_errors.get(
            (workspace.metadata.namespace, workspace.metadata.name)
        )

    def presence(self, crd: str) -> CRDPresence:
        return self.presences.get(crd, CRDPresence())

    def has_synced(self, kind: ResourceKind) -> bool:
        """
        Whether a kind that a source adds is read, served and was listed, so that absence counts.
        """
        table = self.tables.get(kind.resource)
        return table is not None and isinstance(table.watch_state, Watching | WatchLost)

    def why_unknown(self, kind: ResourceKind, *, now: datetime) -> str:
        """
        Why what is kept of this kind must not be judged; empty if it may.
        """
        match self.tables[kind.resource].watch_state:
            case Watching() | NotServed():
                return ""
            case NotSynced():
                return self.why_not_synced(kind)
            case WatchLost(lost, why) if now - lost >= WATCH_LOSS_TOLERANCE:
                return f"{kind.group_resource} not watched: {why}"
            case WatchLost():
                return ""

    def why_not_synced(self, kind: ResourceKind) -> str:
        """
        Why nothing was ever seen of this kind, so that an object's absence means nothing.
        """
        sight = self.tables[kind.resource].watch_state
        if not isinstance(sight, NotSynced):
            return ""
        return f"{kind.group_resource} not listed yet" + (f": {sight.why}" if sight.why else "")

    def unknown_from(self, kind: ResourceKind) -> datetime | None:
        """
        The moment from which this kind will be blind if its watch does not come back.
        """
        sight = self.tables[kind.resource].watch_state
        return sight.since + WATCH_LOSS_TOLERANCE if isinstance(sight, WatchLost) else None
