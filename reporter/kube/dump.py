"""
Collect the objects of a dump by kind, and find what the dump says nothing about. Pure.

The command ``dump`` says at the end what was read. Any other dump is never complete by itself: a kind without
any object may have none, or may not have been dumped. So it counts as read only where the dump proves that, by
an object, a typed list, or the absence of its CRD from a list of CRDs.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field

from reporter.kinds.resource_kind import ResourceKind
from reporter.kube import stack_dump
from reporter.kube.dump_documents import DumpDocument, UnreadableFile
from reporter.kube.lister import ListResult
from reporter.kube.watch_events import decode_items
from reporter.model.times import parse_zoned_time


LIST = "List"
CRDS = ("apiextensions.k8s.io", "CustomResourceDefinition")

SCOPES = {"Namespaced": True, "Cluster": False}
"""A ResourceScope of a CRD, and whether its objects have namespaces."""

TOO_DEEP = "nested too deep"

GroupKind: TypeAlias = tuple[str, str]
"""API group, empty for core, and kind."""

Object: TypeAlias = Mapping[str, Any]


class RawObject(Struct, frozen=True):
    """An object of the dump as it was written. *version*: of its API group."""

    group: str
    version: str
    kind: str
    content: Object

    @property
    def namespace(self) -> str:
        """The metadata.namespace as written; empty for a cluster-scoped object, or if it is no text."""
        return _text(self._metadata.get("namespace"))

    @property
    def name(self) -> str:
        """The metadata.name as written; empty if it is missing or no text."""
        return _text(self._metadata.get("name"))

    @property
    def revision(self) -> int:
        """
        The resourceVersion as a number, by which the newer of two copies is found; 0 if it is none.
        """
        text = _text(self._metadata.get("resourceVersion"))
        return int(text) if text.isdecimal() else 0

    @property
    def _metadata(self) -> Object:
        found = self.content.get("metadata")
        return found if isinstance(found, Mapping) else {}


class Dump(Struct):
    """
    The objects by kind, once each. *listed*: the kinds that the dump has, with or without objects.

    *namespaces*: those of which it has a namespaced object. *newest*: the newest time in any object, by
    which the dump is dated; None without any. *problems*: files that could not be read.
    *ends*: what the command dump wrote at the end, once for each dump. *counts*: objects by kind, also
    those that are there twice.
    """

    objects: dict[GroupKind, dict[tuple[str, str], RawObject]] = field(default_factory=dict)
    listed: set[GroupKind] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)
    newest: datetime | None = None
    problems: list[UnreadableFile] = field(default_factory=list)
    ends: list[stack_dump.DumpEnd] = field(default_factory=list)
    counts: Counter[GroupKind] = field(default_factory=Counter)

    @property
    def end(self) -> stack_dump.DumpEnd | None:
        """The last document of the command dump; None for the dump of another program."""
        return self.ends[0] if self.ends else None

    @property
    def size(self) -> int:
        """The number of objects of all kinds, also of those that no reason evaluates."""
        return sum(map(len, self.objects.values()))

    def has(self, kind: ResourceKind) -> bool:
        """Return whether the dump lists the kind; an empty list of it counts."""
        return (kind.group, kind.kind) in self.listed

    def names(self, group: str, kind: str) -> frozenset[str]:
        """
        Return the names of all objects of a kind, in whatever namespace; empty for a kind it lacks.
        """
        return frozenset(name for _, name in self.objects.get((group, kind), ()))

    def decode(self, kind: ResourceKind) -> ListResult:
        """
        Decode the objects of a kind that its watch would select.

        Objects in a version that is not read are left out. The result names those that cannot be decoded.
        """
        found = self.objects.get((kind.group, kind.kind), {}).values()
        selector = kind.selector
        readable = (
            _encode(each.content)
            for each in found
            if kind.readable_versions([each.version]) and selector.matches(each.content)
        )
        decoded = decode_items(b"[" + b",".join(readable) + b"]", kind)
        objects, undecodable = decoded if decoded is not None else ((), ())
        return ListResult("", objects, undecodable)

    def versions_of(self, kind: ResourceKind) -> tuple[str, ...]:
        """Return the API versions in which the dump has objects of a kind, sorted; empty without any."""
        found = self.objects.get((kind.group, kind.kind), {}).values()
        return tuple(sorted({each.version for each in found}))

    def unreadable_versions(self, kind: ResourceKind) -> frozenset[str]:
        """Return the versions of this kind in the dump that this release cannot read."""
        versions = self.versions_of(kind)
        return frozenset(versions) - frozenset(kind.readable_versions(versions))

    def why_absent(self, kind: ResourceKind) -> str:
        """
        Return why the dump does not tell all of a kind; empty if it does.

        The kind is not in it, or has objects in a version that is not read.
        """
        return self.why_unreadable(kind) if self.has(kind) else "it is not in the dump"

    def why_unreadable(self, kind: ResourceKind) -> str:
        """
        Return a text about the versions of a kind's objects that this release cannot read; empty if none.
        """
        unread = self.unreadable_versions(kind)
        if unread:
            versions = ", ".join(sorted(unread))
            return f"dumped as {versions}, this release reads {' and '.join(kind.versions)}"
        return ""

    def is_uninstalled(self, kind: ResourceKind) -> bool:
        """
        Return whether the dump lists CRDs and has none of this kind: the cluster does not serve it.

        It is False for built-in groups, and for a dump without CRDs, of which that is not known.
        """
        return (
            not kind.has_built_in_group
            and CRDS in self.listed
            and kind.group_resource not in self.names(*CRDS)
        )

    def served_versions(self) -> Mapping[str, tuple[str, ...]]:
        """Return the served versions of each CRD in the dump, by ``resource.group``."""
        return {
            name: tuple(_served(raw.content))
            for (_, name), raw in self.objects.get(CRDS, {}).items()
        }

    def scopes(self) -> Mapping[str, bool]:
        """
        Return whether the resource of each CRD in the dump has namespaces, by ``resource.group``.
        """
        found = {
            name: _scope(raw.content) for (_, name), raw in self.objects.get(CRDS, {}).items()
        }
        return {name: SCOPES[scope] for name, scope in found.items() if scope in SCOPES}


def collect(documents: Iterable[DumpDocument | UnreadableFile], *, now: datetime) -> Dump:
    """Collect the objects of all documents. Times after *now* do not count for *newest*."""
    dump = Dump()
    for each in documents:
        if isinstance(each, UnreadableFile):
            dump.problems.append(each)
            continue
        if stack_dump.kind_of(each.content):
            _note_bound(dump, each)
            continue
        for raw in _objects(each.content, dump.listed):
            _add(dump, raw)
            dump.newest = _newest(raw.content, dump.newest, now=now)
    return dump


def _note_bound(dump: Dump, document: DumpDocument) -> None:
    """Note the beginning or the end of what the command dump wrote. A beginning without an end is cut off."""
    unended = UnreadableFile(document.source, "the dump in it has no end", is_cut_off=True)
    if stack_dump.kind_of(document.content) == stack_dump.BEGIN:
        dump.problems.append(unended)
        return
    try:
        dump.ends.append(stack_dump.parse_end(document.content))
    except msgspec.ValidationError as err:
        dump.problems.append(UnreadableFile(document.source, f"its end cannot be read: {err}"))
        return
    if unended in dump.problems:
        dump.problems.remove(unended)


def _add(dump: Dump, raw: RawObject) -> None:
    of_kind = dump.objects.setdefault((raw.group, raw.kind), {})
    dump.listed.add((raw.group, raw.kind))
    dump.counts[raw.group, raw.kind] += 1
    key = (raw.namespace, raw.name)
    known = of_kind.get(key)
    if known is None or raw.revision >= known.revision:
        of_kind[key] = raw
    if raw.namespace:
        dump.namespaces.add(raw.namespace)


def _objects(content: Any, listed: set[GroupKind]) -> Iterator[RawObject]:
    """
    Yield the objects of a document: of itself, of a List, or of a typed list such as a PodList.
    """
    if not isinstance(content, Mapping):
        return
    api_version, kind = _text(content.get("apiVersion")), _text(content.get("kind"))
    items = content.get("items")
    if kind.endswith(LIST) and isinstance(items, list | None) and "items" in content:
        of_items = kind.removesuffix(LIST)
        if of_items and api_version:
            listed.add((_group(api_version), of_items))
        for each in items or ():
            if isinstance(each, Mapping):
                yield from _objects({"apiVersion": api_version, "kind": of_items, **each}, listed)
        return
    metadata = content.get("metadata")
    if api_version and kind and isinstance(metadata, Mapping) and metadata.get("name"):
        yield RawObject(_group(api_version), api_version.rpartition("/")[2], kind, content)


def _newest(content: Any, newest: datetime | None, *, now: datetime) -> datetime | None:
    """
    Return the newest time in an object that is not after *now*, or *newest* if that is newer.
    """
    for text in _times(content):
        found = parse_zoned_time(text)
        if found is not None and found <= now and (newest is None or found > newest):
            newest = found
    return newest


def _times(content: Any) -> Iterator[str]:
    pending: list[Any] = [content]
    while pending:
        each = pending.pop()
        if isinstance(each, Mapping):
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)
        elif isinstance(each, str) and _LEAST <= len(each) <= _MOST and each[4] == "-":
            yield each


_LEAST, _MOST = len("2026-01-01T00:00:00Z"), len("2026-01-01T00:00:00.000000000+00:00")


def _served(crd: Object) -> Iterator[str]:
    spec = crd.get("spec")
    versions = spec.get("versions") if isinstance(spec, Mapping) else None
    for each in versions if isinstance(versions, list) else ():
        if isinstance(each, Mapping) and each.get("served") and _text(each.get("name")):
            yield _text(each["name"])


def _scope(crd: Object) -> str:
    spec = crd.get("spec")
    return _text(spec.get("scope")) if isinstance(spec, Mapping) else ""


def _encode(content: Object) -> bytes:
    """Encode an object as JSON; of one that is nested too deep for that, only what names it."""
    try:
        return msgspec.json.encode(content)
    except RecursionError:
        return msgspec.json.encode(
            {"metadata": content["metadata"], "spec": TOO_DEEP, "status": TOO_DEEP}
        )


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def uncovered(dump: Dump, namespaces: Collection[str]) -> frozenset[str]:
    """
    Return the *namespaces* of which the dump has no object; without those that it shows not to exist.
    """
    known = dump.names("", "Namespace")
    return frozenset(
        each for each in namespaces if each not in dump.namespaces and (not known or each in known)
    )
