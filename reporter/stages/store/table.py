"""
The objects of one kind, found by name and by index key, and the names of those that went.
"""

from bisect import bisect_left

from reporter.model.kinds.objects import ApiObject
from reporter.model.kinds.resource_kinds import INFERENCE_SETS, PODS, WORKSPACES, ResourceKind
from reporter.model.observations import NotSynced, WatchState
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.cow_map import CowMap
from reporter.stages.snapshot.index_keys import INDEX_FUNCS, no_index_keys
from reporter.stages.snapshot.snapshot import NamespacedName, TableSnapshot
from reporter.stages.snapshot.subjects import has_subject


MAX_DELETED = 10_000
"""
How many deleted objects of each kind are remembered, oldest forgotten first.
"""

UNTRACKED_DELETIONS = frozenset({PODS.resource, INFERENCE_SETS.resource, WORKSPACES.resource})
"""
Kinds of which no probe asks whether an object of a name ever was there; they have the most objects.
"""


class Table:
    """
    The objects of one kind. *gone*: uid of those that were deleted.

    *members*: another object each time that there are other subjects because of this kind.
    """

    def __init__(self, kind: ResourceKind) -> None:
        self.deleted_uids: dict[ObjectRef, str] = {}
        self._resource, self._tracks_deletions = (
            kind.group_resource,
            kind.resource not in UNTRACKED_DELETIONS,
        )
        self.objects: CowMap[NamespacedName, ApiObject] = CowMap()
        self.index: CowMap[str, tuple[ApiObject, ...]] = CowMap()
        self.watch_state: WatchState = NotSynced()
        self.subjects_token = object()
        self._index_func = INDEX_FUNCS.get(kind.resource, no_index_keys)

    def upsert(self, name: NamespacedName, new: ApiObject) -> bool:
        """
        Whether anything changed that we read.
        """
        old = self.objects.get(name)
        if old == new:
            return False
        self.objects[name] = new
        self._update_index(name, old, new)
        if old is None or has_subject(old) != has_subject(new):
            self.subjects_token = object()
        return True

    def delete(self, name: NamespacedName) -> ApiObject | None:
        old = self.objects.pop(name)
        self._update_index(name, old, None)
        self.subjects_token = object()
        return old

    def record_deletion(self, name: NamespacedName, uid: str) -> bool:
        """
        False if nobody will ask.
        """
        if not self._tracks_deletions:
            return False
        self.deleted_uids[ObjectRef(self._resource, *name)] = uid
        if len(self.deleted_uids) > MAX_DELETED:
            del self.deleted_uids[next(iter(self.deleted_uids))]
        return True

    def _update_index(
        self, name: NamespacedName, old: ApiObject | None, new: ApiObject | None
    ) -> None:
        """
        Objects themselves stand under a key: they are looked for more often than they change.
        """
        before = self._index_func(old) if old is not None else ()
        after = self._index_func(new) if new is not None else ()
        for key in {*before, *after}:
            listed = self.index.get(key) or ()
            place = bisect_left(listed, name, key=_namespaced_name)
            put = (new,) if new is not None and key in after else ()
            listed = listed[:place] + put + listed[place + (key in before) :]
            if listed:
                self.index[key] = listed
            else:
                self.index.pop(key)

    def snapshot(self) -> TableSnapshot:
        return TableSnapshot(
            self.objects.freeze(), self.index.freeze(), self.watch_state, self.subjects_token
        )


def _namespaced_name(listed: ApiObject) -> NamespacedName:
    return (listed.metadata.namespace, listed.metadata.name)
