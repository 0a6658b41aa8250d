"""
A snapshot that notes which lookups of a probe had an incomplete result.

An object that cannot be decoded is missing from every result or is an old version, and the objects of
a kind that cannot be read are all missing. A probe takes that for absence, so its verdict must not
count.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple, TypeVar

from msgspec import Struct, field
from msgspec.structs import fields

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES
from reporter.kinds.objects import ApiObject, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.sanitize import sanitize
from reporter.model.verdicts import ObjectRef
from reporter.snapshot.cow_map import FrozenMap
from reporter.snapshot.snapshot import Snapshot, index_func


# --------------------------------------------------------------------
# The undecodable objects by the index keys under which they may be found.
#
# After a change of a CRD there may be as many of them as objects, and each lookup of each subject asks.


ANY_KEY = ""
MAX_OBJECTS = 8
"""Objects that are named for one key. More of them make no verdict more Unknown."""


class UndecodableIndex(Struct, frozen=True):
    """
    The objects whose newest version could not be decoded, each with its stub.

    *by_key*: by table, the objects that may have an index key. A key that ends with a slash stands for
    every key that begins with it, and ANY_KEY for every key at all. A table's part is built at its first
    look-up.
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


T = TypeVar("T", bound=ApiObject)


class Gap(NamedTuple):
    """
    An object or kind that is missing from the result of a lookup. *why*: a sentence for the verdict.

    *is_detail*: it only adds detail, so trouble that a probe finds without it counts.
    """

    is_detail: bool
    why: str


class CheckedSnapshot(Snapshot, frozen=True):
    """
    A snapshot that one probe reads.

    *deciding* and *detail*: the resources of the kinds that decide, and of those that add detail.
    *unknown_kinds*: why a deciding kind cannot be read, by resource. *gaps*: those that lookups noted
    since the last `take_gaps`. *undecodable_objects*: those of the snapshot, by index key; all probes of
    a pass share them.
    """

    deciding: frozenset[str] = frozenset()
    detail: frozenset[str] = frozenset()
    unknown_kinds: Mapping[str, str] = field(default_factory=dict)
    undecodable_objects: UndecodableIndex = field(default_factory=lambda: UndecodableIndex({}))
    gaps: list[Gap] = field(default_factory=list)

    def get(self, kind: ResourceKind, type_: type[T], namespace: str, name: str) -> T | None:
        """
        Return an object as Snapshot does.

        Note a gap if its kind cannot be read, or its newest version cannot be decoded.
        """
        self._note_kind(kind)
        self._note_elsewhere(kind, namespace)
        if ObjectRef(kind.watch_name, namespace, name) in self.undecodable:
            self._note_undecodable(kind, (namespace, name))
        return Snapshot.get(self, kind, type_, namespace, name)

    def by_index(self, kind: ResourceKind, type_: type[T], key: str) -> tuple[T, ...]:
        """
        Return the objects under a key as Snapshot does.

        Note a gap for each undecodable one that may belong to them.
        """
        self._note_kind(kind)
        self._note_elsewhere(kind, _namespace_of_key(key))
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

    def _note_elsewhere(self, kind: ResourceKind, namespace: str) -> None:
        """Note a gap for a lookup in another namespace than that of which the kind was read."""
        only = self.only_in.get(kind.table, namespace)
        # A namespace is named by its name.
        if namespace == only or (kind.table == NAMESPACES.table and not namespace):
            return
        is_detail = kind.table in self.detail
        if is_detail or kind.table in self.deciding:
            why = f"{kind.group_resource} were read in namespace {only} alone"
            self.gaps.append(Gap(is_detail, why))

    def _note_undecodable(self, kind: ResourceKind, name: NamespacedName) -> None:
        is_detail = kind.table in self.detail
        if is_detail or kind.table in self.deciding:
            self.gaps.append(Gap(is_detail, why_undecodable(kind, name)))


def _namespace_of_key(key: str) -> str:
    """Return the namespace that an index key names; empty for a key of objects in any namespace."""
    namespace, slash, _ = key.rpartition("=")[2].partition("/")
    return namespace if slash else ""


def why_undecodable(kind: ResourceKind, name: NamespacedName) -> str:
    """Return the sentence for an undecodable object, with its name fit for a message."""
    return f"{kind.kind} {sanitize('/'.join(filter(None, name)))} could not be decoded"


def why_incomplete(
    snapshot: Snapshot, kind: ResourceKind, namespace: str = "", *, now: datetime
) -> str:
    """
    Return why a namespace may have objects of a kind that are not known as they are; else "".

    The kind cannot be read, or an object of it could not be decoded. *namespace*: empty for all of them.
    """
    why = snapshot.why_unknown(kind, now=now)
    if why or not snapshot.undecodable:
        return why
    names = [
        (ref.namespace, ref.name)
        for ref in snapshot.undecodable
        if ref.resource == kind.watch_name and namespace in {"", ref.namespace}
    ]
    return why_undecodable(kind, min(names)) if names else ""


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
    if not snapshot.undecodable and not unknown_kinds and not snapshot.only_in:
        return snapshot
    values = {each.name: getattr(snapshot, each.name) for each in fields(Snapshot)}
    return CheckedSnapshot(
        **values,
        deciding=frozenset(kind.table for kind in spec.deciding_kinds),
        detail=frozenset(kind.table for kind in spec.detail_kinds),
        unknown_kinds=unknown_kinds,
        undecodable_objects=undecodable,
    )
