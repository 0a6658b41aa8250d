"""
The objects of one kind by name and by index key, and the UIDs of deleted ones.
"""

from bisect import bisect_left
from collections.abc import Mapping

from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.observations import WatchState
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.cow_map import CowMap
from reporter.stages.snapshot.index_keys import index_func
from reporter.stages.snapshot.snapshot import TableSnapshot
from reporter.stages.snapshot.subjects import has_subject


MAX_DELETED = 10_000
"""
The number of deleted objects that are remembered of each kind; the oldest are forgotten first.
"""


class Table:
    """
    The objects of one kind.

    *deleted_uids*: the UIDs of objects that were deleted, if the kind tracks deletions.
    *subjects_token*: replaced each time that the kind may stand for other subjects.
    """

    def __init__(self, kind: ResourceKind) -> None:
        self.deleted_uids: dict[ObjectRef, str] = {}
        self.objects: CowMap[NamespacedName, ApiObject] = CowMap()
        self.index: CowMap[str, tuple[ApiObject, ...]] = CowMap()
        self.subjects_token = object()
        self.kind = kind
        self._index_func = index_func(kind)

    def upsert(self, name: NamespacedName, new: ApiObject) -> bool:
        """
        Store an object; return whether any field that is read has changed.
        """
        old = self.objects.get(name)
        if old == new:
            return False
        self.objects[name] = new
        self._update_index(name, old, new)
        if old is None or has_subject(old) != has_subject(new):
            self.subjects_token = object()
        return True

    def insert(self, new: Mapping[NamespacedName, ApiObject]) -> None:
        """
        Store objects of which none is stored yet; the same as `upsert` for each of them.

        A first list has thousands, so each index key is written once instead of once for each object.
        """
        added: dict[str, list[ApiObject]] = {}
        for name, each in new.items():
            self.objects[name] = each
            for key in {*self._index_func(each)}:
                added.setdefault(key, []).append(each)
        for key, objects in added.items():
            objects += self.index.get(key) or ()
            if len(objects) > 1:
                objects.sort(key=_namespaced_name)
            self.index[key] = tuple(objects)
        self.subjects_token = object()

    def delete(self, name: NamespacedName) -> ApiObject | None:
        """
        Remove an object and return it, None if there was none.
        """
        old = self.objects.pop(name)
        self._update_index(name, old, None)
        self.subjects_token = object()
        return old

    def record_deletion(self, name: NamespacedName, uid: str) -> bool:
        """
        Remember the UID of a deleted object; return False if the kind does not track deletions.
        """
        if not self.kind.tracks_deletions:
            return False
        self.deleted_uids[ObjectRef(self.kind.group_resource, *name)] = uid
        if len(self.deleted_uids) > MAX_DELETED:
            del self.deleted_uids[next(iter(self.deleted_uids))]
        return True

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
        """
        Return an immutable view. *watch_state*: the state as far as it is confirmed.
        """
        return TableSnapshot(
            self.objects.freeze(), self.index.freeze(), watch_state, self.subjects_token
        )


def _namespaced_name(each: ApiObject) -> NamespacedName:
    return (each.metadata.namespace, each.metadata.name)
