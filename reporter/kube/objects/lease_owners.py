"""Check and set our Deployment in the owner references of a Lease."""

import msgspec

from reporter.kube.wire.decoding import Json, decode_json
from reporter.model.records.lease_record import LeaseOwner


class _LeaseOwnerReference(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""


class _LeaseMeta(msgspec.Struct, rename="camel"):
    owner_references: list[_LeaseOwnerReference] | None = None


class _OwnedObject(msgspec.Struct):
    metadata: _LeaseMeta


_OWNED_OBJECT_DECODER = msgspec.json.Decoder(_OwnedObject)


def owner_reference(owner: LeaseOwner) -> Json:
    """
    Build the reference without ``controller`` and ``blockOwnerDeletion``.

    The latter would need the permission to update the Deployment's finalizers where the admission
    plugin OwnerReferencesPermissionEnforcement is on.
    """
    return {"apiVersion": "apps/v1", "kind": "Deployment", "name": owner.name, "uid": owner.uid}


def has_owner(source: bytes, owner: LeaseOwner) -> bool:
    """
    Return whether the Lease has this owner. Raises msgspec.DecodeError for malformed references.
    """
    found = decode_json(_OWNED_OBJECT_DECODER, source).metadata.owner_references or []
    return owner_reference(owner) in map(_to_json, found)


def with_owner(body: Json, owner: LeaseOwner) -> Json:
    """Return the object with this owner, which replaces an earlier Deployment of the same name."""
    metadata = body["metadata"]
    ours = owner_reference(owner)
    others = [
        each for each in metadata.get("ownerReferences") or [] if not _is_same_owner(each, ours)
    ]
    return body | {"metadata": metadata | {"ownerReferences": [*others, ours]}}


def _is_same_owner(one: Json, other: Json) -> bool:
    return all(one.get(key) == other[key] for key in ("apiVersion", "kind", "name"))


def _to_json(found: _LeaseOwnerReference) -> Json:
    return {
        "apiVersion": found.api_version,
        "kind": found.kind,
        "name": found.name,
        "uid": found.uid,
    }
