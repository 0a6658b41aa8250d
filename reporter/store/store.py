"""
The store of all observations: watches and scrapes write to it, passes read immutable snapshots.

The store decides nothing: a change updates it and marks the affected subjects dirty.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain, islice
from types import MappingProxyType

from reporter.catalogue.subject_definitions import SubjectDefinitions
from reporter.kinds.core import PODS, Pod
from reporter.kinds.health_events import StoreLimit
from reporter.kinds.kaito import WORKSPACES
from reporter.kinds.objects import ApiObject, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.kinds.shared_values import forget_shared_values
from reporter.model.observations import DiscoveryResult, Watching, WatchState
from reporter.model.silences import NO_SILENCE_FILE, SilenceFile
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import ObjectRef
from reporter.process.subscribers import Subscribers
from reporter.scrape.samples import FailedScrape, ScrapedMetrics
from reporter.snapshot.seen_before import SeenBefore
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.store.history import ObjectHistory
from reporter.store.samples import SampleStore
from reporter.store.table import (
    NO_STUBS,
    Table,
    UndecodableObjects,
    collect_deleted_uids,
    find_object,
    prepare_tables,
    record_current_before,
    record_deleted_before,
)
from reporter.store.watch_states import CRDPresences, WatchStates


def affected_subjects(
    kind: ResourceKind,
    tables: Mapping[str, Table],
    *,
    old: ApiObject | None,
    new: ApiObject | None,
) -> Iterator[Iterable[Subject]]:
    """
    Yield the subjects whose probes may read the object, as it was or as it is, in groups.

    *old*: None for a new object. *new*: None for a deleted one.
    """
    has_same_identity = has_same_subjects = False
    if old is not None and new is not None:
        a, b = old.metadata, new.metadata
        has_same_identity = a.labels == b.labels and a.deletion_timestamp == b.deletion_timestamp
        has_same_subjects = has_same_identity and _has_same_references(old, new)
    # Most changes are of a status alone, which ResourceKind.affects and referrers may not read: the old
    # version affects what the new one does.
    for each in (new,) if has_same_subjects else (old, new):
        if each is not None:
            yield kind.affects(each)
            if not has_same_identity:
                yield kind.affects_by_identity(each)
            for resource, key_of in kind.referrers:
                table = tables.get(resource)
                if table is not None:
                    yield from map(table.kind.affects, table.index.get(key_of(each)) or ())


def _has_same_references(old: ApiObject, new: ApiObject) -> bool:
    """Compare what `ResourceKind.affects` and `referrers` may read besides name and labels."""
    return old.metadata.owner_references == new.metadata.owner_references and (
        getattr(old, "spec", None) == getattr(new, "spec", None)
    )


BATCH_SIZE = 500
"""The number of objects of a list that are stored at a time: some ten milliseconds."""


NOWHERE_ALONE: Mapping[str, str] = MappingProxyType({})


class Store:
    """
    The tables of all kinds, the presence of CRDs and the samples of pods.

    *crds*: the resources (``resource.group``) whose presence discovery reports.
    *scrapes*: the store of scraped samples, as *samples*. *subjects*: the rules by which objects make
    subjects. *only_in*: as of Snapshot. *changes*: notified after each change.
    """

    def __init__(
        self,
        kinds: Iterable[ResourceKind],
        crds: Iterable[str] = (),
        scrapes: SampleStore | None = None,
        *,
        subjects: SubjectDefinitions,
        only_in: Mapping[str, str] = NOWHERE_ALONE,
    ) -> None:
        self.kinds, self._definitions, self.only_in = tuple(kinds), subjects, only_in
        self._tables = prepare_tables(self.kinds, subjects)()
        self._presences = CRDPresences(crds)
        self._watch_states = WatchStates(self.kinds, self._presences)
        self.samples = scrapes or SampleStore({})
        self._history, self._undecodable = ObjectHistory(), UndecodableObjects()
        self._deleted_uids: dict[ObjectRef, str] | None = None
        self._rejections: Mapping[StoreLimit, int] = {}
        self._silence_file = NO_SILENCE_FILE
        self._dirty: set[Subject] = set()
        self.changes: Subscribers[[]] = Subscribers()

    def _mark_dirty(self, *subjects: Iterable[Subject]) -> None:
        for each in subjects:
            self._dirty.update(each)
        self.changes.notify()

    def take_dirty(self) -> frozenset[Subject]:
        """Return the subjects whose objects have changed since the last call."""
        taken = frozenset(self._dirty)
        self._dirty.clear()
        return taken

    def prepare_kinds(
        self, kinds: tuple[ResourceKind, ...], crds: Iterable[str], subjects: SubjectDefinitions
    ) -> Callable[[], None]:
        """
        Return a function that limits the store to objects of these kinds and to the presence of these CRDs.

        Nothing changes before its call. What is known of kinds and CRDs that stay is kept.
        """
        tables = prepare_tables(kinds, subjects, self._tables)

        def commit() -> None:
            before, self.kinds = self.kinds, kinds
            self._tables, self._definitions = tables(), subjects
            for kind in (each for each in before if each.table not in self._tables):
                self._undecodable.forget_all(kind)
                self._history.forget_all(kind)
            self._watch_states.set_kinds(kinds)
            self._presences.set_resources(crds)
            self._deleted_uids = None
            self._mark_dirty(ALL_LAYERS)

        return commit

    def replace(
        self,
        kind: ResourceKind,
        objects: Iterable[ApiObject],
        undecodable: Mapping[NamespacedName, ApiObject | None] = NO_STUBS,
    ) -> None:
        """
        Store a complete list; objects that are not in it are deleted. *undecodable*: with their stubs.
        """
        for _ in self.replace_in_batches(kind, objects, undecodable):
            pass

    def replace_in_batches(
        self,
        kind: ResourceKind,
        objects: Iterable[ApiObject],
        undecodable: Mapping[NamespacedName, ApiObject | None] = NO_STUBS,
    ) -> Iterator[None]:
        """
        Store a complete list, yielding after each batch so that other tasks can run.

        New objects are stored before old ones are deleted, so that none seems to be missing meanwhile.
        """
        marked = self._undecodable.names_of(kind)
        deleted = {*self._tables[kind.table].objects.keys(), *marked} - set(undecodable)
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
        """Store a new or changed object, and mark the subjects whose verdict may change by it."""
        name = (new.metadata.namespace, new.metadata.name)
        table = self._tables[kind.table]
        old = table.objects.get(name)
        self._prepare_upsert(kind, old, new)
        if table.upsert(name, new):
            self._mark_dirty(*affected_subjects(kind, self._tables, old=old, new=new))

    def _upsert_all(self, kind: ResourceKind, objects: Iterable[ApiObject]) -> None:
        """
        Store objects; the same as `upsert` for each, but those of a first list are inserted together.
        """
        table = self._tables[kind.table]
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
        """Update all but the table of the kind."""
        table = self._tables[kind.table]
        if table.deleted_uids or self._undecodable:
            ref = ObjectRef(kind.watch_name, new.metadata.namespace, new.metadata.name)
            if table.deleted_uids.pop(ref, None) is not None:
                self._deleted_uids = None
            self._unmark_undecodable(ref)
        self._history.on_upsert(old, new)
        if isinstance(new, Pod):
            self.samples.forget_if_outdated(new)

    def delete(self, kind: ResourceKind, namespace: str, name: str) -> None:
        """Remove an object and record its deletion; do nothing if it is not known."""
        table = self._tables[kind.table]
        old = table.delete((namespace, name))
        ref = ObjectRef(kind.watch_name, namespace, name)
        if not self._unmark_undecodable(ref) and old is None:
            return
        if isinstance(old, Pod):
            self.samples.forget(namespace, name)
        if old is not None:
            self._history.on_delete(old, self._is_absent)
        if table.record_deletion((namespace, name), old.metadata.uid if old is not None else ""):
            self._deleted_uids = None
        self._mark_dirty(*affected_subjects(kind, self._tables, old=old, new=None))

    def _is_absent(self, kind: ResourceKind, name: NamespacedName) -> bool:
        """Return whether it is certain that there is no such object."""
        is_watched = isinstance(self._watch_states.of(kind), Watching)
        return is_watched and find_object(self._tables, kind, name) is None

    def mark_undecodable(
        self, kind: ResourceKind, namespace: str, name: str, stub: ApiObject | None = None
    ) -> None:
        """
        Mark an object whose newest version could not be decoded; its old version is kept.

        *stub*: the object with its metadata alone; None if even that is not known.
        """
        if self._undecodable.mark(ObjectRef(kind.watch_name, namespace, name), stub):
            self._mark_dirty(ALL_LAYERS)

    def _unmark_undecodable(self, ref: ObjectRef) -> bool:
        """
        Remove the mark of an object, without which others may be known again; return whether it had one.
        """
        if was_marked := self._undecodable.forget(ref):
            self._mark_dirty(ALL_LAYERS)
        return was_marked

    def set_watch_state(self, kind: ResourceKind, state: WatchState) -> None:
        """Record how the watch of a kind is. A change makes every subject be evaluated anew."""
        if self._watch_states.set(kind, state):
            self._mark_dirty(ALL_LAYERS)

    def record_discovery(
        self, result: DiscoveryResult | None, why: str = "", *, now: datetime
    ) -> None:
        """
        Update the presence of CRDs; *result* is None if discovery failed, with *why*.

        The objects of a declared kind that is certainly no longer served are forgotten.
        """
        changed = self._presences.record(result, why, now=now)
        if result is not None:
            changed |= self._watch_states.record_discovery(result)
        for kind in filter(self._watch_states.is_gone, self.kinds):
            changed |= self._forget_all(kind)
        if changed:
            self._mark_dirty(ALL_LAYERS)

    def _forget_all(self, kind: ResourceKind) -> bool:
        """Forget the objects of a kind that is gone; return whether there were any."""
        if not self._undecodable.forget_all(kind) and not len(self._tables[kind.table].objects):
            return False
        self._tables |= prepare_tables((kind,), self._definitions)()
        self._deleted_uids = None
        return True

    def record_seen_before(self, seen: SeenBefore) -> None:
        """
        Remember what a predecessor has seen, as far as no object is known that shows otherwise.
        """
        missing = record_deleted_before(self._tables, self._presences, seen.existed)
        self._deleted_uids = None
        self._history.record_seen_before(seen, missing, self._is_absent)
        self._mark_dirty(record_current_before(self._tables, seen.lost))
        for name in seen.errors:
            workspace = find_object(self._tables, WORKSPACES, name)
            if workspace is not None:
                self._history.on_upsert(workspace, workspace)
                self._mark_dirty(WORKSPACES.affects(workspace))

    def record_store_rejections(self, rejected: Mapping[StoreLimit, int]) -> None:
        """Record how many episodes have no place among the HealthEvents, by the limit."""
        if rejected != self._rejections:
            self._rejections = rejected
            self._mark_dirty((CLUSTER_SUBJECT,))

    def record_silence_file(self, file: SilenceFile) -> None:
        """Record the file of silences as it was read. Every pass matches all findings with it."""
        if file != self._silence_file:
            self._silence_file = file
            self._mark_dirty((CLUSTER_SUBJECT,))

    def get_pod(self, namespace: str, name: str) -> Pod | None:
        """Return a pod as it is now; None if it is gone, or if pods are not watched."""
        found = find_object(self._tables, PODS, (namespace, name))
        return found if isinstance(found, Pod) else None

    def record_scrape(self, pod: Pod, history_name: str, scrape: ScrapedMetrics) -> None:
        """Add samples to a history of the pod; *pod* is as it was before the request."""
        now = self.get_pod(pod.metadata.namespace, pod.metadata.name)
        if self.samples.record_scrape(pod, history_name, scrape, now=now):
            self._mark_dirty(PODS.affects(pod))

    def record_scrape_failure(self, pod: Pod, history_name: str, failure: FailedScrape) -> None:
        """Add a failed attempt to a history of the pod; *pod* is as it was before the request."""
        now = self.get_pod(pod.metadata.namespace, pod.metadata.name)
        if self.samples.record_scrape_failure(pod, history_name, failure, now=now):
            self._mark_dirty(PODS.affects(pod))

    def served_version(self, kind: ResourceKind) -> str | None:
        """
        Return the version in which to watch a kind, None while unknown or if no known one is served.
        """
        return self._presences.served_version(kind)

    def kinds_waited_for(self) -> Mapping[str, str]:
        """Return why each kind whose first list is awaited is not listed; see `WatchStates.waited_for`."""
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

    def compact(self) -> None:
        """
        Copy what is kept and small, so that the memory is free in which it lay beside what is gone.
        """
        for table in self._tables.values():
            table.compact()
        self.samples.compact()
        self._deleted_uids = None
        forget_shared_values()

    def snapshot(self) -> Snapshot:
        """
        Return an immutable view of all that is stored, for one pass.

        It costs little, but the writes that follow copy the shards that they change.
        """
        uids = self._deleted_uids = self._deleted_uids or collect_deleted_uids(self._tables)
        return Snapshot(
            tables={
                kind.table: self._tables[kind.table].snapshot(self._watch_states.of(kind))
                for kind in self.kinds
            },
            presences=self._presences.by_resource,
            deleted_uids=uids,
            undecodable=self._undecodable.snapshot(),
            scrape_histories=self.samples.histories(),
            scrape_fingerprints=self.samples.fingerprints(),
            provisioning_errors=self._history.provisioning_errors.kept.freeze(),
            pod_failures=self._history.pod_failures.kept.freeze(),
            pod_restarts=self._history.pod_restarts.kept.freeze(),
            deleted_parts=self._history.deleted_parts.kept.freeze(),
            store_rejections=self._rejections,
            silence_file=self._silence_file,
            subject_definitions=self._definitions,
            only_in=self.only_in,
        )
