"""Encoding of objects, lists and watch events from the stored JSON."""

from collections.abc import Iterable
from functools import lru_cache

import msgspec

from devcluster.schema.api_errors import Json
from devcluster.schema.defaults import EMPTY_OBJECTS
from devcluster.schema.kinds import ServedKind
from devcluster.storage.listing import ServedPage
from devcluster.storage.storage import StoredObject


@lru_cache(maxsize=256)
def _type_meta_prefix(kind: ServedKind) -> bytes:
    return f'{{"kind":"{kind.kind}","apiVersion":"{kind.api_version}",'.encode()


def encode_object(kind: ServedKind, stored: StoredObject) -> bytes:
    """Encode one object with the apiVersion of *kind*."""
    return _type_meta_prefix(kind) + stored.data[1:]


def encode_list(kind: ServedKind, page: ServedPage) -> bytes:
    """
    Encode a list. Only items of custom resources have kind and apiVersion, as on the real server.
    """
    meta = msgspec.json.encode(list_metadata(kind, page))
    head = f'{{"kind":"{kind.kind}List","apiVersion":"{kind.api_version}","metadata":'.encode()
    return b"".join(
        (head, meta, b',"items":[', b",".join(_encode_items(kind, page.items)), b"]}\n")
    )


def _encode_items(kind: ServedKind, items: Iterable[StoredObject]) -> Iterable[bytes]:
    if kind.is_custom:
        return (encode_object(kind, stored) for stored in items)
    return (stored.data for stored in items)


def list_metadata(kind: ServedKind, page: ServedPage) -> Json:
    meta: Json = {"resourceVersion": str(page.resource_version)}
    if page.continue_token or kind.is_custom:
        meta["continue"] = page.continue_token
    if page.remaining_item_count:
        meta["remainingItemCount"] = page.remaining_item_count
    return meta


def encode_watch_event(event_type: str, data: bytes) -> bytes:
    return b'{"type":"' + event_type.encode() + b'","object":' + data + b"}\n"


def bookmark_object(kind: ServedKind, version: int, *, initial_end: bool) -> Json:
    """
    Build the object of a bookmark: a resourceVersion and the empty fields of a built-in kind.
    """
    meta: Json = {"resourceVersion": str(version)}
    if initial_end:
        meta["annotations"] = {"k8s.io/initial-events-end": "true"}
    empty = EMPTY_OBJECTS.get(kind.group_resource, {})
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta, **empty}
