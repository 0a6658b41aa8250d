"""
The objects of one kind, found by name and by index key, and the names of those that went.
"""

from bisect import bisect_left

from reporter.model.kinds import INFERENCE_SETS, PODS, WORKSPACES, ResourceKind
from reporter.model.objects import ApiObject
from reporter.model.observations import Sight, Unlisted
from reporter.model.verdicts import ObjectRef
from reporter.stages.indexes import INDEXES, unindexed
from reporter.stages.sharded import Sharded
from reporter.stages.snapshot import Name, Table
from reporter.stages.subjects import is_member


REMEMBERED = 10_000
"""
How many deleted objects of each kind are remembered, oldest forgotten first.
"""

UNMISSED = frozenset({PODS.resource, INFERENCE_SETS.resource, WORKSPACES.resource})
"""
Kinds of which no probe asks whether an object of a name ever was there; they have the most objects.
"""


class Kept:
    """
    The objects of one kind. *gone*: uid of those that were deleted.

    *members*: another object each time that there are other subjects because of this kind.
    """

    def __init__(self, kind: ResourceKind) -> None:
        self.gone: dict[ObjectRef, str] = {}
        self._resource, self._missed = kind.qualified, kind.resource not in UNMISSED
        self.objects: Sharded[Name, ApiObject] = Sharded()
        self.index: Sharded[str, tuple[ApiObject, ...]] = Sharded()
        self.sight: Sight = Unlisted()
        self.members = object()
        self._keys_of = INDEXES.get(kind.resource, unindexed)

    def put(self, name: Name, new: ApiObject) -> bool:
        """
        Whether anything changed that we read.
        """
        old = self.objects.get(name)
        if old == new:
            return False
        self.objects[name] = new
        self._index(name, old, new)
        if old is None or is_member(old) != is_member(new):
            self.members = object()
        return True

    def drop(self, name: Name) -> ApiObject | None:
        old = self.objects.pop(name)
        self._index(name, old, None)
        self.members = object()
        return old

    def remember(self, name: Name, uid: str) -> bool:
        """
        False if nobody will ask.
        """
        if not self._missed:
            return False
        self.gone[ObjectRef(self._resource, *name)] = uid
        if len(self.gone) > REMEMBERED:
            del self.gone[next(iter(self.gone))]
        return True

    def _index(self, name: Name, old: ApiObject | None, new: ApiObject | None) -> None:
        """
        Objects themselves stand under a key: they are looked for more often than they change.
        """
        before = self._keys_of(old) if old is not None else ()
        after = self._keys_of(new) if new is not None else ()
        for key in {*before, *after}:
            listed = self.index.get(key) or ()
            place = bisect_left(listed, name, key=_name)
            put = (new,) if new is not None and key in after else ()
            listed = listed[:place] + put + listed[place + (key in before) :]
            if listed:
                self.index[key] = listed
            else:
                self.index.pop(key)

    def table(self) -> Table:
        return Table(self.objects.freeze(), self.index.freeze(), self.sight, self.members)


def _name(listed: ApiObject) -> Name:
    return (listed.metadata.namespace, listed.metadata.name)
