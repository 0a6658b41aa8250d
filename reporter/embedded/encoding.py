"""
Objects and lists on the wire, from the JSON that is stored.
"""

from collections.abc import Iterable
from functools import lru_cache

import msgspec

from reporter.embedded.defaults import EMPTY
from reporter.embedded.kinds import Kind
from reporter.embedded.listing import Page
from reporter.embedded.statuses import Json
from reporter.embedded.storage import Stored


@lru_cache(maxsize=256)
def _head(kind: Kind) -> bytes:
    return f'{{"kind":"{kind.kind}","apiVersion":"{kind.api_version}",'.encode()


def whole(kind: Kind, stored: Stored) -> bytes:
    """
    One object, in the version of *kind*.
    """
    data = stored.data or msgspec.json.encode(stored.value)
    return _head(kind) + data[1:]


def listed(kind: Kind, page: Page) -> bytes:
    """
    A list. Items of built-in kinds carry no kind and apiVersion, those of custom resources do.
    """
    meta = msgspec.json.encode(list_meta(kind, page))
    head = f'{{"kind":"{kind.kind}List","apiVersion":"{kind.api_version}","metadata":'.encode()
    return b"".join((head, meta, b',"items":[', b",".join(_items(kind, page.items)), b"]}\n"))


def _items(kind: Kind, items: Iterable[Stored]) -> Iterable[bytes]:
    if kind.custom:
        return (whole(kind, stored) for stored in items)
    return (stored.data for stored in items)


def list_meta(kind: Kind, page: Page) -> Json:
    meta: Json = {"resourceVersion": str(page.version)}
    if page.token or kind.custom:
        meta["continue"] = page.token
    if page.remaining:
        meta["remainingItemCount"] = page.remaining
    return meta


def watch_event(what: str, data: bytes) -> bytes:
    return b'{"type":"' + what.encode() + b'","object":' + data + b"}\n"


def bookmark(kind: Kind, version: int, *, initial_end: bool) -> Json:
    """
    An object of that kind with nothing but a version; empty fields of built-in kinds are there.
    """
    meta: Json = {"resourceVersion": str(version)}
    if initial_end:
        meta["annotations"] = {"k8s.io/initial-events-end": "true"}
    empty = EMPTY.get(kind.qualified, {})
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta, **empty}
