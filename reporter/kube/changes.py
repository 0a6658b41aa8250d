"""
What a line of a watch or a page of a list says, decoded object by object. Pure.

An object that cannot be decoded is named instead: one odd object never hides the others.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeAlias, TypeVar

import msgspec

from reporter.kube.decoding import decoded
from reporter.kube.errors import Unreachable
from reporter.kube.redaction import clean
from reporter.kube.translation import Asked, watch_failure
from reporter.model.kinds import ResourceKind
from reporter.model.objects import ApiObject


T = TypeVar("T")

Name: TypeAlias = tuple[str, str]
"""
Namespace, empty for cluster-scoped kinds, and name.
"""


@dataclass(frozen=True, slots=True)
class Put:
    name: Name
    version: str
    object: ApiObject
    new: bool


@dataclass(frozen=True, slots=True)
class Drop:
    name: Name
    version: str


@dataclass(frozen=True, slots=True)
class Spoilt:
    """
    Its newest version could not be decoded; *why* names the field.
    """

    name: Name
    version: str
    why: str
    new: bool


@dataclass(frozen=True, slots=True)
class Bookmark:
    """
    Everything up to *version* was told.
    """

    version: str


Change: TypeAlias = Put | Drop | Spoilt | Bookmark


@dataclass(frozen=True, slots=True)
class Page:
    """
    *version* is that of the whole list; *token* is empty on the last page.
    """

    version: str
    token: str
    objects: tuple[ApiObject, ...]
    spoilt: tuple[Spoilt, ...]


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _Object(msgspec.Struct):
    metadata: _Metadata


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _ListMetadata(msgspec.Struct, rename={"version": "resourceVersion", "token": "continue"}):
    version: str = ""
    token: str | None = ""


class _List(msgspec.Struct, Generic[T]):
    metadata: _ListMetadata
    items: tuple[T, ...] | None


_EVENTS = msgspec.json.Decoder(_Event)
_OBJECTS = msgspec.json.Decoder(_Object)
_LISTS = msgspec.json.Decoder(_List[msgspec.Raw])


def read_event(line: bytes, kind: ResourceKind, asked: Asked) -> Change:
    """
    Raises what an ERROR event stands for, and Unreachable for what is no watch event at all.
    """
    event, meta = _envelope(line, asked)
    match event.type:
        case "ADDED" | "MODIFIED":
            return _put(event.object, kind, meta, new=event.type == "ADDED")
        case "DELETED":
            return Drop((meta.namespace, meta.name), meta.resource_version)
        case "BOOKMARK":
            return Bookmark(meta.resource_version)
        case other:
            raise _garbage(asked, f"unknown type of watch event {other[:40]!r}")


def read_page(body: bytes, kind: ResourceKind, asked: Asked) -> Page:
    """
    Raises Unreachable for what is no list.
    """
    with suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return _whole(_pages(kind).decode(body))
    try:
        return _by_object(decoded(_LISTS, body), kind)
    except msgspec.DecodeError as err:
        raise _garbage(asked, f"not a list: {err}") from err


def _whole(page: "_List[ApiObject]") -> Page:
    return Page(page.metadata.version, page.metadata.token or "", page.items or (), ())


def _by_object(page: "_List[msgspec.Raw]", kind: ResourceKind) -> Page:
    """
    Takes twice as long, but one odd object does not hide the others.
    """
    found = [
        _put(raw, kind, decoded(_OBJECTS, raw).metadata, new=True) for raw in page.items or ()
    ]
    return Page(
        version=page.metadata.version,
        token=page.metadata.token or "",
        objects=tuple(each.object for each in found if isinstance(each, Put)),
        spoilt=tuple(each for each in found if isinstance(each, Spoilt)),
    )


def _envelope(line: bytes, asked: Asked) -> tuple[_Event, _Metadata]:
    try:
        event = decoded(_EVENTS, line)
        if event.type == "ERROR":
            raise watch_failure(asked, bytes(event.object))
        return event, decoded(_OBJECTS, event.object).metadata
    except msgspec.DecodeError as err:
        raise _garbage(asked, f"not a watch event: {err}") from err


def _put(raw: msgspec.Raw, kind: ResourceKind, meta: _Metadata, *, new: bool) -> Put | Spoilt:
    name = (meta.namespace, meta.name)
    try:
        found = decoded(_decoder(kind), raw)
    except msgspec.DecodeError as err:
        return Spoilt(name, meta.resource_version, clean(str(err)), new=new)
    return Put(name, meta.resource_version, found, new=new)


def _garbage(asked: Asked, message: str) -> Unreachable:
    """
    The answer began as a success, so its status says so.
    """
    return Unreachable(asked.doing, status=200, message=message, arrived=True)


@cache
def _decoder(kind: ResourceKind) -> "msgspec.json.Decoder[ApiObject]":
    return msgspec.json.Decoder(kind.type)


@cache
def _pages(kind: ResourceKind) -> "msgspec.json.Decoder[_List[ApiObject]]":
    return msgspec.json.Decoder(_List[kind.type])  # type: ignore[name-defined]
