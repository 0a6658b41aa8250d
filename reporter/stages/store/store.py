"""
The store of all observations: watches and scrapes write to it, passes read immutable snapshots.

The store decides nothing: a change updates it and marks the affected subjects dirty.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain, islice
from types import MappingProxyType

from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.kinds.kaito.workspaces import WORKSPACES
from reporter.model.kinds.productionstack.health_event_writes import StoreLimit
from reporter.model.metrics.samples import FailedScrape, ScrapedMetrics
from reporter.model.observations import DiscoveryResult, Watching, WatchState
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.snapshot.subjects import ALL_LAYERS
from reporter.stages.store.affected import affected_subjects
from reporter.stages.store.crd_presence import CRDPresences
from reporter.stages.store.dirty import DirtySubjects
from reporter.stages.store.history.history import ObjectHistory
from reporter.stages.store.samples import SampleStore
from reporter.stages.store.table import Table
from reporter.stages.store.undecodable import UndecodableObjects
from reporter.stages.store.watch_states import WatchStates


BATCH_SIZE = 500
"""
The number of objects of a list that are stored at a time: some ten milliseconds.
"""

EMPTY: Mapping[NamespacedName, ApiObject | None] = MappingProxyType({})


class Store:
    """
    The tables of all kinds, the presence of CRDs and the samples of pods.

    *crds*: the resources (``resource.group``) whose presence discovery reports.
    *scrapes*: the store of scraped samples.
    """

    def __init__(
        self,
        kinds: Iterable[ResourceKind],
        crds: Iterable[str] = (),
        scrapes: SampleStore | None = None,
    ) -> None:
        self.kinds = tuple(kinds)
        self._tables = {kind.resource: Table(kind) for kind in self.kinds}
        self._presences = CRDPresences(crds)
        self._watch_states = WatchStates(self.kinds, self._presences)
        self._samples = scrapes or SampleStore({})
        self._history = ObjectHistory()
        self._undecodable = UndecodableObjects()
        self._deleted_uids: dict[ObjectRef, str] | None = None
        self._rejected: Mapping[StoreLimit, int] = {}
        self._dirty = DirtySubjects()
        self.subscribe, self._mark_dirty = self._dirty.subscribe, self._dirty.mark

    def take_dirty(self) -> frozenset[Subject]:
        """
        Return the subjects that were marked dirty since the last call.
        """
        return self._dirty.take()

    def replace(
        self,
        kind: ResourceKind,
        objects: Iterable[ApiObject],
        undecodable: Mapping[NamespacedName, ApiObject | None] = EMPTY,
    ) -> None:
        """
        Store a complete list; objects that are not in it are deleted.

        *undecodable*: names in the list whose objects could not be decoded, with their stubs.
        """
        for _ in self.replace_in_batches(kind, objects, undecodable):
            pass

    def replace_in_batches(
        self,
        kind: ResourceKind,
        objects: Iterable[ApiObject],
        undecodable: Mapping[NamespacedName, ApiObject | None] = EMPTY,
    ) -> Iterator[None]:
        """
        Store a complete list, yielding after each batch so that other tasks can run.

        New objects are stored before old ones are deleted, so that none seems to be missing meanwhile.
        """
        marked = self._undecodable.names_of(kind)
        deleted = {*self._tables[kind.resource].objects.keys(), *marked} - set(undecodable)
        remaining = iter(objects)
        while batch := tuple(islice(remaining, BATCH_SIZE)):
            deleted.difference_update((o.metadata.namespace, o.metadata.name) for o in batch)
            self._upsert_all(kind, batch)
            if len(batch) == BATCH_SIZE:
                yield
        for number, (namespace, name) in enumerate(deleted, start=1):
            self.delete(kind, namespace, name)
            if not number % BATCH_SIZE:
                yield
        for (namespace, name), stub in undecodable.items():
            self.mark_undecodable(kind, namespace, name, stub)

    def upsert(self, kind: ResourceKind, new: ApiObject) -> None:
        """
        Store a new or changed object.
        """
        name = (new.metadata.namespace, new.metadata.name)
        table = self._tables[kind.resource]
        old = table.objects.get(name)
        self._prepare_upsert(kind, old, new)
        if table.upsert(name, new):
            self._mark_dirty(*affected_subjects(kind, self._tables, old=old, new=new))

    def _upsert_all(self, kind: ResourceKind, objects: Iterable[ApiObject]) -> None:
        """
        Store objects; the same as `upsert` for each, but those of a first list are inserted together.
        """
        table = self._tables[kind.resource]
        added: dict[NamespacedName, ApiObject] = {}
        stored: list[ApiObject] = []
        for each in objects:
            name = (each.metadata.namespace, each.metadata.name)
            if name in added or table.objects.get(name) is not None:
                stored.append(each)
            else:
                added[name] = each
                self._prepare_upsert(kind, None, each)
        if added:
            table.insert(added)
            affected = (
                affected_subjects(kind, self._tables, old=None, new=e) for e in added.values()
            )
            self._mark_dirty(*chain.from_iterable(affected))
        for each in stored:
            self.upsert(kind, each)

    def _prepare_upsert(self, kind: ResourceKind, old: ApiObject | None, new: ApiObject) -> None:
        """
        Update all but the table of the kind.
        """
        table = self._tables[kind.resource]
        if table.deleted_uids or self._undecodable:
            ref = ObjectRef(kind.group_resource, new.metadata.namespace, new.metadata.name)
            if table.deleted_uids.pop(ref, None) is not None:
                self._deleted_uids = None
            self._unmark_undecodable(ref)
        self._history.on_upsert(old, new)
        if isinstance(new, Pod):
            self._samples.forget_if_outdated(new)

    def delete(self, kind: ResourceKind, namespace: str, name: str) -> None:
        """
        Remove an object; do nothing if it is not known.
        """
        table = self._tables[kind.resource]
        old = table.delete((namespace, name))
        ref = ObjectRef(kind.group_resource, namespace, name)
        if not self._unmark_undecodable(ref) and old is None:
            return
        if isinstance(old, Pod):
            self._samples.forget(namespace, name)
        if old is not None:
            self._history.on_delete(old, self._is_workspace_absent)
        if table.record_deletion((namespace, name), old.metadata.uid if old is not None else ""):
            self._deleted_uids = None
        self._mark_dirty(*affected_subjects(kind, self._tables, old=old, new=None))

    def _is_workspace_absent(self, name: NamespacedName) -> bool:
        """
        Return whether it is certain that there is no such Workspace.
        """
        table, state = self._tables.get(WORKSPACES.resource), self._watch_states.of(WORKSPACES)
        return isinstance(state, Watching) and table is not None and not table.objects.get(name)

    def mark_undecodable(
        self, kind: ResourceKind, namespace: str, name: str, stub: ApiObject | None = None
    ) -> None:
        """
        Mark an object whose newest version could not be decoded; its old version is kept.

        *stub*: the object with its metadata alone; None if even that is not known.
        """
        if self._undecodable.mark(ObjectRef(kind.group_resource, namespace, name), stub):
            self._mark_dirty(ALL_LAYERS)

    def _unmark_undecodable(self, ref: ObjectRef) -> bool:
        """
        Remove the mark of an object and return whether it had one.

        All that were Unknown because of it may be known again, in any layer.
        """
        if not self._undecodable.forget(ref):
            return False
        self._mark_dirty(ALL_LAYERS)
        return True

    def set_watch_state(self, kind: ResourceKind, state: WatchState) -> None:
        if self._watch_states.set(kind, state):
            self._mark_dirty(ALL_LAYERS)

    def record_discovery(
        self, result: DiscoveryResult | None, why: str = "", *, now: datetime
    ) -> None:
        """
        Update the presence of CRDs; *result* is None if discovery failed, with *why*.
        """
        changed = self._presences.record(result, why, now=now)
        if result is not None:
            changed |= self._watch_states.record_discovery(result)
        if changed:
            self._mark_dirty(ALL_LAYERS)

    def get_pod(self, namespace: str, name: str) -> Pod | None:
        found = self._tables[PODS.resource].objects.get((namespace, name))
        return found if isinstance(found, Pod) else None

    def record_scrape(self, pod: Pod, history_name: str, scrape: ScrapedMetrics) -> None:
        """
        Add samples to a history of the pod; *pod* is as it was before the request.
        """
        now = self.get_pod(pod.metadata.namespace, pod.metadata.name)
        if self._samples.record_scrape(pod, history_name, scrape, now=now):
            self._mark_dirty(PODS.affects(pod))

    def record_scrape_failure(self, pod: Pod, history_name: str, failure: FailedScrape) -> None:
        now = self.get_pod(pod.metadata.namespace, pod.metadata.name)
        if self._samples.record_scrape_failure(pod, history_name, failure, now=now):
            self._mark_dirty(PODS.affects(pod))

    def record_store_rejections(self, rejected: Mapping[StoreLimit, int]) -> None:
        """
        Record how many episodes have no place among the HealthEvents, by the limit.
        """
        if rejected != self._rejected:
            self._rejected = rejected
            self._mark_dirty((CLUSTER_SUBJECT,))

    def served_version(self, kind: ResourceKind) -> str | None:
        """
        Return the version in which to watch a kind, None while unknown or if no known one is served.
        """
        return self._presences.served_version(kind)

    def kinds_waited_for(self) -> Mapping[str, str]:
        """
        Return the kinds that were not listed and that the API server itself did not refuse, with why.
        """
        return self._watch_states.waited_for()

    @property
    def watch_states(self) -> tuple[WatchState, ...]:
        """
        The watch state of each kind. A snapshot has them too, but makes the next writes copy shards.
        """
        return tuple(map(self._watch_states.of, self.kinds))

    @property
    def has_unconfirmed_loss(self) -> bool:
        """
        True while a CRD was missing from the last discovery and a second one must confirm that.
        """
        return self._presences.has_unconfirmed_loss

    def snapshot(self) -> Snapshot:
        return Snapshot(
            tables={
                kind.resource: self._tables[kind.resource].snapshot(self._watch_states.of(kind))
                for kind in self.kinds
            },
            presences=self._presences.by_resource,
            deleted_uids=self._collect_deleted_uids(),
            undecodable=self._undecodable.snapshot(),
            scrape_histories=self._samples.snapshot(),
            provisioning_errors=self._history.provisioning_errors.snapshot(),
            pod_failures=self._history.pod_failures.snapshot(),
            pod_restarts=self._history.pod_restarts.snapshot(),
            labelled_deployments=self._history.labelled_deployments.snapshot(),
            store_rejections=self._rejected,
        )

    def _collect_deleted_uids(self) -> dict[ObjectRef, str]:
        # Cached until a deletion, as a pass over one subject must not pay for thousands of them.
        if self._deleted_uids is None:
            self._deleted_uids = {
                ref: uid
                for table in self._tables.values()
                for ref, uid in table.deleted_uids.items()
            }
        return self._deleted_uids
