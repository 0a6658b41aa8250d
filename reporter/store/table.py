"""The objects of one kind by name and by index key, and the UIDs of deleted ones."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from reporter.catalogue.subject_definitions import SubjectDefinitions
from reporter.kinds.objects import ApiObject, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Reason
from reporter.model.observations import CRDS_RESOURCE, WatchState
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.snapshot.cow_map import CowMap
from reporter.snapshot.snapshot import TableSnapshot, index_func
from reporter.store.watch_states import CRDPresences


# --------------------------------------------------------------------
# The objects whose newest version could not be decoded.


NO_STUBS: Mapping[NamespacedName, ApiObject | None] = MappingProxyType({})


class UndecodableObjects:
    """
    The objects whose newest version could not be decoded.

    Each has a stub: the object with its metadata alone, None where even that is not known.
    """

    def __init__(self) -> None:
        self._stubs: dict[ObjectRef, ApiObject | None] = {}

    def __bool__(self) -> bool:
        return bool(self._stubs)

    def mark(self, ref: ObjectRef, stub: ApiObject | None) -> bool:
        """Mark an object as undecodable; return whether it was not marked yet, or had another stub."""
        is_known = ref in self._stubs and self._stubs[ref] == stub
        self._stubs[ref] = stub
        return not is_known

    def forget(self, ref: ObjectRef) -> bool:
        """Remove the mark of an object; return whether it had one."""
        was_undecodable = ref in self._stubs
        self._stubs.pop(ref, None)
        return was_undecodable

    def forget_all(self, kind: ResourceKind) -> bool:
        """Remove the marks of a kind's objects; return whether there were any."""
        names = self.names_of(kind)
        for name in names:
            self.forget(ObjectRef(kind.watch_name, *name))
        return bool(names)

    def names_of(self, kind: ResourceKind) -> Sequence[NamespacedName]:
        """Return the undecodable objects of a kind, in the order in which they were marked."""
        return [(r.namespace, r.name) for r in self._stubs if r.resource == kind.watch_name]

    def snapshot(self) -> dict[ObjectRef, ApiObject | None]:
        """Return a copy by reference: each with its stub, None where not even that is known."""
        return dict(self._stubs)


MAX_DELETED = 10_000
"""
The number of deleted objects that are remembered of each kind; the oldest are forgotten first.
"""


NEVER_CURRENT: frozenset[str] = frozenset()


class Table:
    """
    The objects of one kind.

    *deleted_uids*: the UIDs of objects that were deleted, if the kind tracks deletions.
    *subjects_token*: an object that is replaced each time that the kind's objects may make other subjects.
    *was_current*: by object, the ids of the `current` expressions of reasons that it has met at any time.
    *subject_identity*: returns what of an object decides about subjects; None if nothing does.
    """

    def __init__(
        self, kind: ResourceKind, subject_identity: Callable[[Any], object] | None = None
    ) -> None:
        self.deleted_uids: dict[ObjectRef, str] = {}
        self.objects: CowMap[NamespacedName, ApiObject] = CowMap()
        self.index: CowMap[str, tuple[ApiObject, ...]] = CowMap()
        self.was_current: CowMap[NamespacedName, frozenset[str]] = CowMap()
        self.subjects_token = object()
        self.kind = kind
        self._index_func, self._subject_identity = index_func(kind), subject_identity

    def upsert(self, name: NamespacedName, new: ApiObject) -> bool:
        """Store an object; return whether any field that is read has changed."""
        old = self.objects.get(name)
        if old == new:
            return False
        self.objects[name] = new
        self._remember_current(name, old, new)
        self._update_index(name, old, new)
        identity = self._subject_identity
        if old is None or (identity is not None and identity(old) != identity(new)):
            self.subjects_token = object()
        return True

    def insert(self, new: Mapping[NamespacedName, ApiObject]) -> None:
        """
        Store objects of which none is stored yet; the same as `upsert` for each of them.

        A first list has thousands, so each index key is written once instead of once for each object.
        """
        for name, each in new.items():
            self.objects[name] = each
            self._remember_current(name, None, each)
        self._insert_into_index(new.values())
        self.subjects_token = object()

    def _insert_into_index(self, new: Iterable[ApiObject]) -> None:
        added: dict[str, list[ApiObject]] = {}
        for each in new:
            for key in {*self._index_func(each)}:
                added.setdefault(key, []).append(each)
        for key, objects in added.items():
            objects += self.index.get(key) or ()
            if len(objects) > 1:
                objects.sort(key=_namespaced_name)
            self.index[key] = tuple(objects)

    def take_over(self, before: "Table") -> None:
        """
        Start with the objects of a table whose kind was read in another way.

        They are not evaluated, but their subjects stay until a list replaces them.
        """
        self.objects = before.objects
        if self.kind.remember_current is not None:
            self.was_current = before.was_current
        if self.kind.tracks_deletions:
            self.deleted_uids = before.deleted_uids
        self._insert_into_index(self.objects.freeze().values())

    def set_subject_identity(self, identity: Callable[[Any], object] | None) -> None:
        """
        Set the function that returns what of an object decides about its subjects.

        Subjects are then determined anew. *identity*: None for a kind whose objects make no subjects.
        """
        self._subject_identity, self.subjects_token = identity, object()

    def record_current_before(
        self, name: NamespacedName, reasons: frozenset[Reason]
    ) -> ApiObject | None:
        """
        Remember that an object was current by these reasons, as a predecessor has seen.

        If that was not known, a copy of the object replaces it and is returned; else None.
        """
        old, kept = self.objects.get(name), self.was_current.get(name) or NEVER_CURRENT
        if old is None or self.kind.remember_current is None:
            return None
        after = self.kind.remember_current(old, kept | reasons)
        if after == kept:
            return None
        self.was_current[name] = after
        # Results are kept for the object, which is another one from now on.
        new = self.objects[name] = msgspec.structs.replace(old)
        self._update_index(name, old, new)
        return new

    def delete(self, name: NamespacedName) -> ApiObject | None:
        """Remove an object and return it, None if there was none."""
        old = self.objects.pop(name)
        self.was_current.pop(name)
        self._update_index(name, old, None)
        self.subjects_token = object()
        return old

    def record_deletion(self, name: NamespacedName, uid: str) -> bool:
        """
        Remember the UID of a deleted object; return False if the kind does not track deletions.
        """
        if not self.kind.tracks_deletions:
            return False
        self.deleted_uids[ObjectRef(self.kind.watch_name, *name)] = uid
        if len(self.deleted_uids) > MAX_DELETED:
            del self.deleted_uids[next(iter(self.deleted_uids))]
        return True

    def compact(self) -> None:
        """
        Copy what is remembered of deleted objects, whose texts lie where all those objects have been.

        The maps of objects shrink to what is in them.
        """
        for each in (self.objects, self.index, self.was_current):
            each.compact()
        namespaces = {ref.namespace: _copied(ref.namespace) for ref in self.deleted_uids}
        self.deleted_uids = {
            ObjectRef(ref.resource, namespaces[ref.namespace], _copied(ref.name)): _copied(uid)
            for ref, uid in self.deleted_uids.items()
        }

    def _remember_current(
        self, name: NamespacedName, old: ApiObject | None, new: ApiObject
    ) -> None:
        if self.kind.remember_current is None:
            return
        kept = self.was_current.get(name)
        if old is not None and old.metadata.uid != new.metadata.uid:
            kept = None  # another object of that name
        after = self.kind.remember_current(new, kept or NEVER_CURRENT)
        if after != (self.was_current.get(name) or NEVER_CURRENT):
            self.was_current[name] = after

    def _update_index(
        self, name: NamespacedName, old: ApiObject | None, new: ApiObject | None
    ) -> None:
        # The index holds the objects, not their names: look-ups are more frequent than changes.
        old_keys = self._index_func(old) if old is not None else ()
        new_keys = self._index_func(new) if new is not None else ()
        for key in new_keys if old_keys == new_keys else {*old_keys, *new_keys}:
            listed = self.index.get(key) or ()
            position = bisect_left(listed, name, key=_namespaced_name)
            inserted = (new,) if new is not None and key in new_keys else ()
            listed = listed[:position] + inserted + listed[position + (key in old_keys) :]
            if listed:
                self.index[key] = listed
            else:
                self.index.pop(key)

    def snapshot(self, watch_state: WatchState) -> TableSnapshot:
        """Return an immutable view. *watch_state*: the state as far as it is confirmed."""
        return TableSnapshot(
            self.objects.freeze(),
            self.index.freeze(),
            watch_state,
            self.subjects_token,
            self.was_current.freeze(),
        )


def _copied(text: str) -> str:
    return text.encode().decode()


def _namespaced_name(each: ApiObject) -> NamespacedName:
    return (each.metadata.namespace, each.metadata.name)


NO_TABLES: Mapping[str, Table] = MappingProxyType({})


def prepare_tables(
    kinds: Iterable[ResourceKind],
    subjects: SubjectDefinitions,
    before: Mapping[str, Table] = NO_TABLES,
) -> Callable[[], dict[str, Table]]:
    """
    Return a function that returns the tables of these kinds. Until it is called, *before* stays as it is.

    They are those of *before*, or new ones that take over what they replace.
    """
    tables: dict[str, Table] = {}
    identities = {}
    for kind in kinds:
        old, identities[kind.table] = before.get(kind.table), subjects.identity_func(kind)
        if old is not None and old.kind == kind:
            tables[kind.table] = old
            continue
        tables[kind.table] = Table(kind, identities[kind.table])
        if old is not None:
            tables[kind.table].take_over(old)

    def commit() -> dict[str, Table]:
        for name, table in tables.items():
            table.set_subject_identity(identities[name])
        return tables

    return commit


def find_object(
    tables: Mapping[str, Table], kind: ResourceKind, name: NamespacedName
) -> ApiObject | None:
    """Return an object; None also for one of a kind that is not watched."""
    table = tables.get(kind.table)
    return table.objects.get(name) if table is not None else None


def collect_deleted_uids(tables: Mapping[str, Table]) -> dict[ObjectRef, str]:
    """Return the UIDs of the deleted objects of all tables, by reference."""
    found: dict[ObjectRef, str] = {}
    for table in tables.values():
        found.update(table.deleted_uids)
    return found


# --------------------------------------------------------------------
# Bring the observations of a predecessor of this process into the tables.


def record_deleted_before(
    tables: Mapping[str, Table], presences: CRDPresences, refs: Collection[ObjectRef]
) -> frozenset[ObjectRef]:
    """
    Mark as deleted each object that a predecessor saw and that is not stored now.

    Mark its CRDs as once served. Return the missing objects.
    """
    by_resource = _by_resource(tables)
    missing: set[ObjectRef] = set()
    for ref in refs:
        table, name = by_resource.get(ref.resource), (ref.namespace, ref.name)
        if table is not None and table.objects.get(name) is None:
            table.record_deletion(name, table.deleted_uids.get(ref, ""))
            missing.add(ref)
    presences.remember_served({ref.name for ref in refs if ref.resource == CRDS_RESOURCE})
    return frozenset(missing)


def record_current_before(
    tables: Mapping[str, Table], lost: Mapping[ObjectRef, frozenset[Reason]]
) -> Iterator[Subject]:
    """Record that objects were current. Yields the subjects whose verdict may change by it."""
    by_resource = _by_resource(tables)
    for ref, reasons in lost.items():
        table = by_resource.get(ref.resource)
        if table is not None:
            found = table.record_current_before((ref.namespace, ref.name), reasons)
            yield from table.kind.affects(found) if found is not None else ()


def _by_resource(tables: Mapping[str, Table]) -> Mapping[str, Table]:
    """Return the tables by the name of their kind in an ObjectRef."""
    return {table.kind.watch_name: table for table in tables.values()}
