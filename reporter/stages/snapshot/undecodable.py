"""
The undecodable objects by the index keys under which they may be found.

After a change of a CRD there may be as many of them as objects, and each lookup of each subject asks.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.cow_map import FrozenMap
from reporter.stages.snapshot.index_keys import index_func


ANY_KEY = ""


@dataclass(frozen=True, slots=True)
class UndecodableObjects:
    """
    The objects whose newest version could not be decoded, each with its stub.

    *by_key*: by resource, the first object that may have a key; or any key with this prefix, or any
    key at all. Built for a resource when it is first looked up.
    """

    stubs: Mapping[ObjectRef, ApiObject | None]
    by_key: dict[str, Mapping[str, NamespacedName]] = field(default_factory=dict)

    def find(
        self, kind: ResourceKind, stored: FrozenMap[NamespacedName, ApiObject], key: str
    ) -> NamespacedName | None:
        """
        Return an object whose newest version may be found under this key; None if there is none.

        *stored*: the last versions of the kind's objects that could be decoded.
        """
        by_key = self.by_key.get(kind.resource)
        if by_key is None:
            by_key = self.by_key[kind.resource] = dict(self._keys_of(kind, stored))
        if not by_key:
            return None
        prefix = key[: key.rfind("/") + 1]
        found = (by_key.get(each) for each in (key, prefix, ANY_KEY))
        return min((name for name in found if name is not None), default=None)

    def _keys_of(
        self, kind: ResourceKind, stored: FrozenMap[NamespacedName, ApiObject]
    ) -> Iterator[tuple[str, NamespacedName]]:
        """
        Yield each object with its keys, the first one last.
        """
        for ref in sorted(self.stubs, reverse=True):
            if ref.resource == kind.group_resource:
                name = (ref.namespace, ref.name)
                for key in _possible_keys(kind, name, self.stubs[ref], stored.get(name)):
                    yield key, name


def _possible_keys(
    kind: ResourceKind, name: NamespacedName, stub: ApiObject | None, old: ApiObject | None
) -> Iterable[str]:
    if stub is None:
        return (ANY_KEY,)
    keys = index_func(kind)
    prefixes = (prefix(name[0]) for prefix in kind.spec_key_prefixes)
    return (*keys(stub), *prefixes, *(keys(old) if old is not None else ()))
