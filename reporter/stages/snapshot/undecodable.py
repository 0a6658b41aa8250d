"""
The undecodable objects by the index keys under which they may be found.

After a change of a CRD there may be as many of them as objects, and each lookup of each subject asks.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.cow_map import FrozenMap
from reporter.stages.snapshot.index_keys import index_func


ANY_KEY = ""
MAX_OBJECTS = 8
"""Objects that are named for one key. More of them make no verdict more Unknown."""


class UndecodableIndex(Struct, frozen=True):
    """
    The objects whose newest version could not be decoded, each with its stub.

    *by_key*: by resource, the objects that may have a key; or any key with this prefix, or any key
    at all. Built for a resource when it is first looked up.
    """

    stubs: Mapping[ObjectRef, ApiObject | None]
    by_key: dict[str, Mapping[str, tuple[NamespacedName, ...]]] = field(default_factory=dict)

    def find(
        self, kind: ResourceKind, stored: FrozenMap[NamespacedName, ApiObject], key: str
    ) -> tuple[NamespacedName, ...]:
        """
        Return objects whose newest version may be found under this key, at most MAX_OBJECTS a key.

        *stored*: the last versions of the kind's objects that could be decoded.
        """
        by_key = self.by_key.get(kind.table)
        if by_key is None:
            by_key = self.by_key[kind.table] = self._collect(kind, stored)
        if not by_key:
            return ()
        prefix = key[: key.rfind("/") + 1]
        found = (name for each in (key, prefix, ANY_KEY) for name in by_key.get(each, ()))
        return tuple(dict.fromkeys(found))

    def _collect(
        self, kind: ResourceKind, stored: FrozenMap[NamespacedName, ApiObject]
    ) -> Mapping[str, tuple[NamespacedName, ...]]:
        names: defaultdict[str, set[NamespacedName]] = defaultdict(set)
        for ref, stub in self.stubs.items():
            if ref.resource == kind.watch_name:
                name = (ref.namespace, ref.name)
                for key in _possible_keys(kind, name, stub, stored.get(name)):
                    names[key].add(name)
        return {key: tuple(sorted(each)[:MAX_OBJECTS]) for key, each in names.items()}


def _possible_keys(
    kind: ResourceKind, name: NamespacedName, stub: ApiObject | None, old: ApiObject | None
) -> Iterable[str]:
    if stub is None:
        return (ANY_KEY,)
    keys = index_func(kind)
    prefixes = (prefix(name[0]) for prefix in kind.spec_key_prefixes)
    return (*keys(stub), *prefixes, *(keys(old) if old is not None else ()))
