"""
The owner references of a Lease: whether ours is among them, and ours beside those of others.
"""

from typing import Any, TypeAlias

import msgspec

from reporter.kube.decoding import decoded
from reporter.model.leases import LeaseOwner


Json: TypeAlias = dict[str, Any]


class _Reference(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""


class _Metadata(msgspec.Struct, rename="camel"):
    owner_references: list[_Reference] | None = None


class _Owned(msgspec.Struct):
    metadata: _Metadata


_OWNED = msgspec.json.Decoder(_Owned)


def reference(owner: LeaseOwner) -> Json:
    """
    Neither its controller nor in the way of its deletion, which would take a right more.
    """
    return {"apiVersion": "apps/v1", "kind": "Deployment", "name": owner.name, "uid": owner.uid}


def belongs(source: bytes, owner: LeaseOwner) -> bool:
    """
    Raises msgspec.DecodeError for what no API server writes.
    """
    found = decoded(_OWNED, source).metadata.owner_references or []
    return reference(owner) in map(_plain, found)


def given(body: Json, owner: LeaseOwner) -> Json:
    """
    The object with this owner, in the place of an earlier Deployment of the same name.
    """
    metadata = body["metadata"]
    ours = reference(owner)
    others = [each for each in metadata.get("ownerReferences") or [] if not _alike(each, ours)]
    return body | {"metadata": metadata | {"ownerReferences": [*others, ours]}}


def _alike(one: Json, other: Json) -> bool:
    return all(one.get(key) == other[key] for key in ("apiVersion", "kind", "name"))


def _plain(found: _Reference) -> Json:
    return {
        "apiVersion": found.api_version,
        "kind": found.kind,
        "name": found.name,
        "uid": found.uid,
    }
