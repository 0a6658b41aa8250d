"""
What a line of a watch or a page of a list says, decoded object by object. Pure.

An object that cannot be decoded is named instead: one odd object never hides the others.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import msgspec

from reporter.kube.decoding import decoded
from reporter.kube.errors import Unreachable
from reporter.kube.redaction import clean
from reporter.kube.translation import Asked, watch_failure
from reporter.model.kinds import ResourceKind
from reporter.model.objects import ApiObject


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

Items: TypeAlias = tuple[tuple[ApiObject, ...], tuple[Spoilt, ...]]
"""
Objects, and those that could not be decoded.
"""


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


class _List(msgspec.Struct):
    metadata: _ListMetadata
    items: msgspec.Raw


_EVENTS = msgspec.json.Decoder(_Event)
_OBJECTS = msgspec.json.Decoder(_Object)
_LISTS = msgspec.json.Decoder(_List)
_ARRAYS = msgspec.json.Decoder(tuple[msgspec.Raw, ...] | None)


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
    try:
        page = decoded(_LISTS, body)
        items = read_items(bytes(page.items), kind)
    except msgspec.DecodeError as err:
        raise _garbage(asked, f"not a list: {err}") from err
    if items is None:
        raise _garbage(asked, "not a list: its items are none")
    return Page(page.metadata.version, page.metadata.token or "", *items)


def read_items(text: bytes, kind: ResourceKind) -> Items | None:
    """
    None for what is no array of objects.
    """
    with suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return _arrays(kind).decode(text) or (), ()
    with suppress(msgspec.DecodeError):
        return _by_object(decoded(_ARRAYS, text) or (), kind)
    return None


def _by_object(raws: Iterable[msgspec.Raw], kind: ResourceKind) -> Items:
    """
    Takes twice as long, but one odd object does not hide the others.
    """
    found = [_put(raw, kind, decoded(_OBJECTS, raw).metadata, new=True) for raw in raws]
    return (
        tuple(each.object for each in found if isinstance(each, Put)),
        tuple(each for each in found if isinstance(each, Spoilt)),
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
def _arrays(kind: ResourceKind) -> "msgspec.json.Decoder[tuple[ApiObject, ...] | None]":
    return msgspec.json.Decoder(tuple[kind.type, ...] | None)  # type: ignore[name-defined]
