"""The input of a pass: every stored object and the state of its watch, at one moment."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

from msgspec import Struct, field

from reporter.catalogue.subject_definitions import NO_SUBJECTS, SubjectDefinitions
from reporter.kinds.core import NAMESPACES, PODS, Pod
from reporter.kinds.health_events import StoreLimit
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.objects import ApiObject, Condition, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.model import observations
from reporter.model.enums import Layer
from reporter.model.silences import NO_SILENCE_FILE, SilenceFile
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.scrape.samples import ScrapeHistory
from reporter.scrape.scrapes import (
    FingerprintFunc,
    HistoryKey,
    ScrapeFingerprints,
    history_key,
)
from reporter.snapshot.cow_map import SHARDS, FrozenMap, empty_map
from reporter.snapshot.loading import has_page, is_loading
from reporter.snapshot.pod_runs import FailedPods, RestartHistory


# --------------------------------------------------------------------
# The index of each table: the keys of its kind, and those that scraping needs.


def loading_pods_key(namespace: str) -> str:
    """Return the key of the pods of a namespace that may be loading a model."""
    return f"loading={namespace}"


def index_func(kind: ResourceKind) -> Callable[[Any], tuple[str, ...]]:
    """Return the function that gives the keys under which an object of this kind is found."""
    return _pod_keys if kind.table == PODS.resource else kind.index_keys


def _pod_keys(pod: Pod) -> tuple[str, ...]:
    keys = PODS.index_keys(pod)
    return (
        (*keys, loading_pods_key(pod.metadata.namespace))
        if has_page(pod) and is_loading(pod)
        else keys
    )


T = TypeVar("T", bound=ApiObject)


class TableSnapshot(Struct, frozen=True):
    """
    The objects of one kind by name and, in the order of their names, by index key.

    All objects are of the kind's type.

    *subjects_token* is the same object as long as the kind's objects make the same subjects.
    *was_current*: by object, the ids of the `current` expressions of reasons that it has met at any time.
    """

    objects: FrozenMap[NamespacedName, ApiObject]
    index: FrozenMap[str, tuple[Any, ...]]
    watch_state: observations.WatchState
    subjects_token: object
    was_current: FrozenMap[NamespacedName, frozenset[str]] = field(default_factory=empty_map)


class Snapshot(Struct, frozen=True):
    """
    An immutable view: nothing that it refers to ever changes.

    *tables*: by plural resource name. *presences*: by ``resource.group``.
    *deleted_uids*: the UIDs of objects that existed and were deleted.
    *undecodable*: objects whose newest version could not be decoded, each with its stub: the object
    with its metadata alone, None if even that is not known.
    *scrape_histories*: by namespace and name of the pod, and the name of the history. Every page replaces
    one, unlike *scrape_fingerprints*, by the same keys.
    *provisioning_errors*: by Workspace, the last error of its nodes while it is not resolved, if the
    Workspace does not state it itself.
    *pod_failures*: by namespace and name, of pods whose successors get the same name.
    *pod_restarts*: by namespace and name, of model pods with a container that restarted.
    *deleted_parts*: by the index key of an InferenceSet that lives, its routes, pools and Deployments
    that were deleted, the last one at the end.
    *store_rejections*: how many episodes have no place among the HealthEvents, by the limit.
    *silence_file*: the file of silences as it was read last.
    *subject_definitions*: which objects make subjects.
    *only_in*: the kinds of which the objects of one namespace alone are here, with that namespace.
    """

    tables: Mapping[str, TableSnapshot]
    presences: Mapping[str, observations.CRDPresence]
    deleted_uids: Mapping[ObjectRef, str]
    undecodable: Mapping[ObjectRef, ApiObject | None]
    scrape_histories: FrozenMap[HistoryKey, ScrapeHistory] = field(default_factory=empty_map)
    scrape_fingerprints: FrozenMap[HistoryKey, ScrapeFingerprints] = field(
        default_factory=empty_map
    )
    provisioning_errors: FrozenMap[NamespacedName, Condition] = field(default_factory=empty_map)
    pod_failures: FrozenMap[NamespacedName, FailedPods] = field(default_factory=empty_map)
    pod_restarts: FrozenMap[NamespacedName, RestartHistory] = field(default_factory=empty_map)
    deleted_parts: FrozenMap[str, tuple[ObjectRef, ...]] = field(default_factory=empty_map)
    store_rejections: Mapping[StoreLimit, int] = field(default_factory=dict)
    silence_file: SilenceFile = NO_SILENCE_FILE
    subject_definitions: SubjectDefinitions = NO_SUBJECTS
    only_in: Mapping[str, str] = field(default_factory=dict)

    def was_deleted(self, ref: ObjectRef) -> bool:
        """
        Return whether an object existed and was deleted; of a CRD, whether it was served and is not.
        """
        if ref in self.deleted_uids or ref.resource != observations.CRDS_RESOURCE:
            return ref in self.deleted_uids
        presence = self.presences.get(ref.name)
        return presence is not None and not presence.versions and self._was_served(ref)

    def _was_served(self, ref: ObjectRef) -> bool:
        presence = self.presences.get(ref.name)
        return presence is not None and bool(presence.ever_served)

    def was_seen(self, ref: ObjectRef) -> bool:
        """
        Return whether an object exists, or existed and was deleted; of a CRD, whether it was served.
        """
        if ref.resource == observations.CRDS_RESOURCE:
            return self._was_served(ref)
        # The store has an object by the name of its watch, a probe by that of its resource.
        table = self.tables.get(ref.resource) or self.tables.get(ref.resource.partition(".")[0])
        exists = table is not None and table.objects.get((ref.namespace, ref.name)) is not None
        return exists or ref in self.deleted_uids

    def born_at(self, subject: Subject) -> datetime | None:
        """
        Return when the InferenceSet or namespace was created that is a subject; None if not known.
        """
        kind, key = NAMESPACES, ("", subject.namespace)
        if subject.layer is Layer.MODELDEPLOYMENT and not subject.is_unnamed:
            kind, key = INFERENCE_SETS, (subject.namespace, subject.name)
        table = self.tables.get(kind.table)
        found = table.objects.get(key) if table is not None else None
        return found.metadata.creation_timestamp if found is not None else None

    def get(self, kind: ResourceKind, type_: type[T], namespace: str, name: str) -> T | None:
        """
        Return an object by name, None if there is none. Raise KeyError for a kind that is not watched.

        *namespace*: empty for cluster-scoped kinds. *type_*: the kind's type, which type checkers
        cannot derive from the kind.
        """
        # Inlined `FrozenMap.get`, as in `by_index`: a pass makes tens of lookups for each subject.
        key = (namespace, name)
        found = self.tables[kind.table].objects.shards[hash(key) % SHARDS].get(key)
        return found if isinstance(found, type_) else None

    def peek(self, kind: ResourceKind, type_: type[T], namespace: str, name: str) -> T | None:
        """Return an object on which no verdict depends: no gap is noted if it cannot be read."""
        return Snapshot.get(self, kind, type_, namespace, name)

    def by_index(self, kind: ResourceKind, type_: type[T], key: str) -> tuple[T, ...]:
        """
        Return the objects under an index key, in the order of their names.

        Raises KeyError for a kind that is not watched.

        *type_*: the kind's type, which type checkers cannot derive from the kind.
        """
        shards = self.tables[kind.table].index.shards
        found: tuple[T, ...] | None = shards[hash(key) % SHARDS].get(key)
        return found or ()

    def all(self, kind: ResourceKind) -> Iterator[ApiObject]:
        """
        Iterate over all objects of a kind, in no order; also over those that are being deleted.
        """
        return self.tables[kind.table].objects.values()

    def scrape_history(self, pod: Pod, history_name: str) -> ScrapeHistory | None:
        """
        Return what was read in the pod's current run; None before any attempt.

        *history_name*: the one that the scrape gives, else the reason whose probe asks for it.
        """
        found = self.scrape_histories.get(history_key(pod, history_name))
        return found if found is not None and found.run.is_of(pod) else None

    def scrape_fingerprint(
        self, pod: Pod, history_name: str, fingerprint: FingerprintFunc
    ) -> object:
        """Return a fingerprint of what was read in the pod's current run; None before any attempt."""
        found = self.scrape_fingerprints.get(history_key(pod, history_name))
        if found is None or not found.run.is_of(pod):
            return None
        return found.by_func.get(fingerprint)

    def provisioning_error(self, workspace: ApiObject) -> Condition | None:
        """
        Return the last error of a Workspace's nodes that it does not state itself.

        None if there was none, or if it is resolved.
        """
        return self.provisioning_errors.get(
            (workspace.metadata.namespace, workspace.metadata.name)
        )

    def presence(self, crd: str) -> observations.CRDPresence:
        """
        Return the presence of a CRD by ``resource.group``; a default one if it is not tracked.
        """
        return self.presences.get(crd, observations.CRDPresence())

    def has_synced(self, kind: ResourceKind) -> bool:
        """
        Return whether an optional kind is watched, served and was listed, so that absence counts.
        """
        table = self.tables.get(kind.table)
        return table is not None and isinstance(
            table.watch_state, observations.Watching | observations.WatchLost
        )

    def why_unknown(self, kind: ResourceKind, *, now: datetime) -> str:
        """Return why the stored objects of this kind must not be evaluated, "" if they may."""
        match self.tables[kind.table].watch_state:
            case observations.Watching() | observations.NotServed():
                return ""
            case observations.NotSynced():
                return self.why_not_synced(kind)
            case observations.WatchLost(since, why) if (
                now - since >= observations.WATCH_LOSS_TOLERANCE
            ):
                return f"{kind.group_resource} not watched: {why}"
            case observations.WatchLost():
                return ""

    def why_not_synced(self, kind: ResourceKind) -> str:
        """
        Return why the kind was never listed, so that an object's absence means nothing; else "".
        """
        state = self.tables[kind.table].watch_state
        if not isinstance(state, observations.NotSynced):
            return ""
        return f"{kind.group_resource} not listed yet" + (f": {state.why}" if state.why else "")

    def unknown_moments(self) -> Iterator[datetime]:
        """Yield when each kind without a watch becomes unknown if its watch does not reopen."""
        for table in self.tables.values():
            if isinstance(table.watch_state, observations.WatchLost):
                yield table.watch_state.since + observations.WATCH_LOSS_TOLERANCE
