"""
A snapshot that notes which lookups of a probe had an incomplete result.

An object that cannot be decoded is missing from every result or is an old version, and the objects of
a kind that cannot be read are all missing. A probe takes that for absence, so its verdict must not
count.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from msgspec import field
from msgspec.structs import fields

from reporter.model.catalogue.entries import ProbeSpec
from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.snapshot.undecodable import UndecodableIndex
from reporter.stages.text.sanitize import sanitize


T = TypeVar("T", bound=ApiObject)


class Gap(NamedTuple):
    """
    An object or kind that is missing from a result. *is_detail*: trouble that is known without it stays known.
    """

    is_detail: bool
    why: str


class CheckedSnapshot(Snapshot, frozen=True):
    """
    A snapshot that one probe reads.

    *deciding* and *detail*: the resources of the kinds that decide, and of those that add detail.
    *unknown_kinds*: why a deciding kind cannot be read, by resource. *gaps*: those noted.
    *undecodable_objects*: those of the snapshot, by index key; all probes of a pass share them.
    """

    deciding: frozenset[str] = frozenset()
    detail: frozenset[str] = frozenset()
    unknown_kinds: Mapping[str, str] = field(default_factory=dict)
    undecodable_objects: UndecodableIndex = field(default_factory=lambda: UndecodableIndex({}))
    gaps: list[Gap] = field(default_factory=list)

    def get(self, kind: ResourceKind, type_: type[T], namespace: str, name: str) -> T | None:
        self._note_kind(kind)
        if ObjectRef(kind.watch_name, namespace, name) in self.undecodable:
            self._note_undecodable(kind, (namespace, name))
        return Snapshot.get(self, kind, type_, namespace, name)

    def by_index(self, kind: ResourceKind, type_: type[T], key: str) -> tuple[T, ...]:
        self._note_kind(kind)
        if kind.table in self.deciding or kind.table in self.detail:
            stored = self.tables[kind.table].objects
            for name in self.undecodable_objects.find(kind, stored, key):
                self._note_undecodable(kind, name)
        return Snapshot.by_index(self, kind, type_, key)

    def take_gaps(self) -> frozenset[Gap]:
        """Return the gaps since the last call; none if every result was complete."""
        gaps = frozenset(self.gaps)
        self.gaps.clear()
        return gaps

    def _note_kind(self, kind: ResourceKind) -> None:
        why = self.unknown_kinds.get(kind.table)
        if why:
            self.gaps.append(Gap(is_detail=False, why=why))

    def _note_undecodable(self, kind: ResourceKind, name: NamespacedName) -> None:
        is_detail = kind.table in self.detail
        if is_detail or kind.table in self.deciding:
            self.gaps.append(Gap(is_detail, why_undecodable(kind, name)))


def why_undecodable(kind: ResourceKind, name: NamespacedName) -> str:
    return f"{kind.kind} {sanitize('/'.join(filter(None, name)))} could not be decoded"


def has_no_version(snapshot: Snapshot, kind: ResourceKind, ref: ObjectRef) -> bool:
    """Return whether no version of an undecodable object was ever decoded."""
    table = snapshot.tables.get(kind.table)
    return table is not None and table.objects.get((ref.namespace, ref.name)) is None


def check_lookups(
    snapshot: Snapshot,
    spec: ProbeSpec,
    unknown_kinds: Mapping[str, str],
    undecodable: UndecodableIndex,
) -> Snapshot:
    """
    Return a snapshot that notes the gaps of this probe's lookups; the same one if there can be none.
    """
    if not snapshot.undecodable and not unknown_kinds:
        return snapshot
    values = {each.name: getattr(snapshot, each.name) for each in fields(Snapshot)}
    return CheckedSnapshot(
        **values,
        deciding=frozenset(kind.table for kind in spec.deciding_kinds),
        detail=frozenset(kind.table for kind in spec.detail_kinds),
        unknown_kinds=unknown_kinds,
        undecodable_objects=undecodable,
    )
