"""The objects whose newest version could not be decoded."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.verdicts import ObjectRef


NO_STUBS: Mapping[NamespacedName, ApiObject | None] = MappingProxyType({})


class UndecodableObjects:
    """Their stubs: the objects with their metadata alone, None where even that is not known."""

    def __init__(self) -> None:
        self._stubs: dict[ObjectRef, ApiObject | None] = {}

    def __bool__(self) -> bool:
        return bool(self._stubs)

    def mark(self, ref: ObjectRef, stub: ApiObject | None) -> bool:
        """Return whether the object or its stub is new."""
        is_known = ref in self._stubs and self._stubs[ref] == stub
        self._stubs[ref] = stub
        return not is_known

    def forget(self, ref: ObjectRef) -> bool:
        """Return whether the object was undecodable."""
        was_undecodable = ref in self._stubs
        self._stubs.pop(ref, None)
        return was_undecodable

    def forget_all(self, kind: ResourceKind) -> bool:
        """Return whether any object of the kind was undecodable."""
        names = self.names_of(kind)
        for name in names:
            self.forget(ObjectRef(kind.watch_name, *name))
        return bool(names)

    def names_of(self, kind: ResourceKind) -> Sequence[NamespacedName]:
        return [(r.namespace, r.name) for r in self._stubs if r.resource == kind.watch_name]

    def snapshot(self) -> dict[ObjectRef, ApiObject | None]:
        return dict(self._stubs)
