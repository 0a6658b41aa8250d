"""
Decode the lines of a watch and the pages of a list. Pure.

An object that cannot be decoded is reported by name and hides no other object.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from reporter.kinds.objects import ApiObject, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.decoding import decode_json
from reporter.kube.error_mapping import RequestInfo, watch_event_error
from reporter.kube.errors import Unreachable
from reporter.kube.plain_text import clean


class Upsert(Struct, frozen=True):
    """
    An object of an ADDED or MODIFIED event, or of a list. *name*: namespace and name.

    *is_new*: it was not there before (ADDED, or in a list), by which objects are counted.
    """

    name: NamespacedName
    resource_version: str
    object: ApiObject
    is_new: bool


class Delete(Struct, frozen=True):
    """An object that a DELETED event reports gone; *resource_version* is that of the deletion."""

    name: NamespacedName
    resource_version: str


class UndecodableObject(Struct, frozen=True):
    """
    An object whose newest version could not be decoded; *why* names the field.

    *stub*: the object with its metadata alone, by which it is found; None if that is unreadable too.
    """

    name: NamespacedName
    resource_version: str
    why: str
    is_new: bool
    stub: ApiObject | None = None


class Bookmark(Struct, frozen=True):
    """
    A bookmark: all events up to this resourceVersion were sent.

    See "Watch bookmarks" in the API concepts page of the Kubernetes documentation.
    """

    resource_version: str


WatchEvent: TypeAlias = Upsert | Delete | UndecodableObject | Bookmark

DecodedItems: TypeAlias = tuple[tuple[ApiObject, ...], tuple[UndecodableObject, ...]]
"""Objects, and those that could not be decoded."""


class ListPage(Struct, frozen=True):
    """
    One page. *resource_version* is that of the list; *continue_token* is empty on the last page.
    """

    resource_version: str
    continue_token: str
    objects: tuple[ApiObject, ...]
    undecodable: tuple[UndecodableObject, ...]


class _ObjectMeta(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _PartialObjectMetadata(msgspec.Struct):
    metadata: _ObjectMeta


class _RawWatchEvent(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _ListMeta(msgspec.Struct, rename={"version": "resourceVersion", "token": "continue"}):
    version: str = ""
    token: str | None = ""


class _RawList(msgspec.Struct):
    metadata: _ListMeta
    items: msgspec.Raw


_EVENT_DECODER = msgspec.json.Decoder(_RawWatchEvent)
_METADATA_DECODER = msgspec.json.Decoder(_PartialObjectMetadata)
_LIST_DECODER = msgspec.json.Decoder(_RawList)
_RAW_ITEMS_DECODER = msgspec.json.Decoder(tuple[msgspec.Raw, ...] | None)


def decode_watch_event(line: bytes, kind: ResourceKind, request: RequestInfo) -> WatchEvent:
    """
    Decode one line. Raises the KubeError of an ERROR event, and Unreachable for any other line.
    """
    event, meta = _decode_envelope(line, request)
    match event.type:
        case "ADDED" | "MODIFIED":
            return _decode_object(event.object, kind, meta, is_new=event.type == "ADDED")
        case "DELETED":
            return Delete((meta.namespace, meta.name), meta.resource_version)
        case "BOOKMARK":
            return Bookmark(meta.resource_version)
        case other:
            raise _malformed_response(request, f"unknown type of watch event {other[:40]!r}")


def decode_list_page(body: bytes, kind: ResourceKind, request: RequestInfo) -> ListPage:
    """Decode one page. Raises Unreachable for a body that is not a list."""
    try:
        page = decode_json(_LIST_DECODER, body)
        items = decode_items(bytes(page.items), kind)
    except msgspec.DecodeError as err:
        raise _malformed_response(request, f"not a list: {err}") from err
    if items is None:
        raise _malformed_response(request, "not a list: its items are none")
    return ListPage(page.metadata.version, page.metadata.token or "", *items)


def decode_items(text: bytes | memoryview, kind: ResourceKind) -> DecodedItems | None:
    """Decode a JSON array of objects; None for any other text. The result keeps none of *text*."""
    with suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        found = _items_decoder(kind).decode(text) or ()
        return found if kind.bounded is None else tuple(map(kind.bounded, found)), ()
    with suppress(msgspec.DecodeError):
        return _decode_one_by_one(decode_json(_RAW_ITEMS_DECODER, bytes(text)) or (), kind)
    return None


def _decode_one_by_one(raws: Iterable[msgspec.Raw], kind: ResourceKind) -> DecodedItems:
    """Decode each object alone, which takes twice as long but isolates the undecodable ones."""
    found = [
        _decode_object(raw, kind, decode_json(_METADATA_DECODER, raw).metadata, is_new=True)
        for raw in raws
    ]
    return (
        tuple(each.object for each in found if isinstance(each, Upsert)),
        tuple(each for each in found if isinstance(each, UndecodableObject)),
    )


def _decode_envelope(line: bytes, request: RequestInfo) -> tuple[_RawWatchEvent, _ObjectMeta]:
    try:
        event = decode_json(_EVENT_DECODER, line)
        if event.type == "ERROR":
            raise watch_event_error(request, bytes(event.object))
        return event, decode_json(_METADATA_DECODER, event.object).metadata
    except msgspec.DecodeError as err:
        raise _malformed_response(request, f"not a watch event: {err}") from err


def _decode_object(
    raw: msgspec.Raw, kind: ResourceKind, meta: _ObjectMeta, *, is_new: bool
) -> Upsert | UndecodableObject:
    name = (meta.namespace, meta.name)
    try:
        found = decode_json(_object_decoder(kind), raw)
    except msgspec.DecodeError as err:
        why, stub = clean(str(err)), _decode_stub(raw, kind)
        return UndecodableObject(name, meta.resource_version, why, is_new=is_new, stub=stub)
    kept = found if kind.bounded is None else kind.bounded(found)
    return Upsert(name, meta.resource_version, kept, is_new=is_new)


def _decode_stub(raw: msgspec.Raw, kind: ResourceKind) -> ApiObject | None:
    """Decode the metadata of an object; every other field has its default."""
    with suppress(msgspec.DecodeError):
        return kind.type(metadata=decode_json(_stub_decoder(kind), raw).metadata)
    return None


def _malformed_response(request: RequestInfo, message: str) -> Unreachable:
    """Make the error for a response with status 200 that cannot be used."""
    return Unreachable(request.operation, status=200, message=message, may_have_applied=True)


@cache
def _object_decoder(kind: ResourceKind) -> "msgspec.json.Decoder[ApiObject]":
    return msgspec.json.Decoder(kind.type)


@cache
def _stub_decoder(kind: ResourceKind) -> "msgspec.json.Decoder[Any]":
    """Return a decoder of the kind's metadata, which has annotations for some kinds."""
    (metadata,) = (f.type for f in msgspec.structs.fields(kind.type) if f.name == "metadata")
    stub = msgspec.defstruct(f"{kind.kind}Stub", [("metadata", metadata)], frozen=True)
    return msgspec.json.Decoder(stub)


@cache
def _items_decoder(kind: ResourceKind) -> "msgspec.json.Decoder[tuple[ApiObject, ...] | None]":
    return msgspec.json.Decoder(tuple[kind.type, ...] | None)  # type: ignore[name-defined]
