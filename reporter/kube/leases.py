"""
Read and write one Lease of coordination.k8s.io/v1 as client-go does (resourcelock/leaselock.go).

A write is a PUT of the whole object as it was read. So it fails if anyone wrote in between, and
fields that we do not know (strategy, preferredHolder, labels of an administrator) are kept. Our
Deployment is set in its owner references.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec

from reporter.kube.client import ApiResponse, RestClient
from reporter.kube.decoding import Json, decode_json, decode_response
from reporter.kube.errors import NotFound
from reporter.kube.lease_rules import LeaseOwner, LeaseRecord
from reporter.model.times import format_micro_time, parse_time


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
    return owner_reference(owner) in msgspec.to_builtins(found)


def with_owner(body: Json, owner: LeaseOwner) -> Json:
    """Return the object with this owner, which replaces an earlier Deployment of the same name."""
    metadata = body["metadata"]
    ours = owner_reference(owner)
    others = [
        each
        for each in metadata.get("ownerReferences") or []
        if any(each.get(key) != ours[key] for key in ("apiVersion", "kind", "name"))
    ]
    return body | {"metadata": metadata | {"ownerReferences": [*others, ours]}}


MAX_INT32 = 2**31 - 1
"""
The largest int32, which is the type of leaseDurationSeconds and leaseTransitions.

At most one less is read as the transitions, so that a Lease at the maximum can be taken over.
"""


@dataclass(frozen=True, slots=True)
class Lease:
    """
    A Lease as it was read; *raw* is the whole object, which an update sends back with another spec.
    """

    record: LeaseRecord
    raw: bytes = field(repr=False, compare=False)


def no_owner() -> None:
    """Return no owner, for a process that no Deployment runs."""


class LeaseLock:
    """
    Reads and writes one Lease. Every failure is raised as a KubeError; nothing is retried.

    *owner*: returns the owner of a Lease that is created; an existing one needs `add_owner`.
    """

    def __init__(
        self,
        api: RestClient,
        namespace: str,
        name: str,
        *,
        owner: Callable[[], LeaseOwner | None] = no_owner,
    ) -> None:
        self._api = api
        self._owner = owner
        self._namespace = namespace
        self._name = name
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"

    def __str__(self) -> str:
        return f"{self._namespace}/{self._name}"

    async def read(self) -> Lease | None:
        """Return the Lease; None if there is none, as before the first election."""
        operation = f"read lease {self}"
        try:
            response = await self._api.call(
                "GET", f"{self._path}/{self._name}", operation=operation
            )
        except NotFound:
            return None
        return decode_lease(response, operation)

    async def create(self, record: LeaseRecord) -> Lease:
        """Create the Lease. Conflict: another candidate was faster."""
        metadata: Json = {"namespace": self._namespace, "name": self._name}
        if (owner := self._owner()) is not None:
            metadata["ownerReferences"] = [owner_reference(owner)]
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": encode_lease_record(record),
        }
        operation = f"create lease {self}"
        return decode_lease(
            await self._api.call("POST", self._path, body=body, operation=operation),
            operation,
        )

    async def update(self, lease: Lease, record: LeaseRecord) -> Lease:
        """
        Write the record. Conflict: someone wrote since *lease* was read. NotFound: it was deleted.
        """
        operation = f"update lease {self}"
        body = _decode_object(lease, operation)
        body["spec"] = {**(body.get("spec") or {}), **encode_lease_record(record)}
        return await self._put(body, operation)

    async def add_owner(self, lease: Lease, owner: LeaseOwner) -> Lease:
        """
        Add *owner* unless it is an owner already. Conflict: someone wrote since *lease* was read.

        Raises msgspec.DecodeError for malformed owner references.
        """
        operation = f"make deployment {owner.name} the owner of lease {self}"
        if has_owner(lease.raw, owner):
            return lease
        return await self._put(with_owner(_decode_object(lease, operation), owner), operation)

    async def _put(self, body: Json, operation: str) -> Lease:
        path = f"{self._path}/{self._name}"
        return decode_lease(
            await self._api.call("PUT", path, body=body, operation=operation),
            operation,
        )


def encode_lease_record(record: LeaseRecord) -> Json:
    """
    Encode the spec. A duration is at least 1, as the API server refuses 0; a missing time is null.
    """
    return {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": max(int(record.duration.total_seconds()), 1),
        "acquireTime": None
        if record.acquire_time is None
        else format_micro_time(record.acquire_time),
        "renewTime": None if record.renew_time is None else format_micro_time(record.renew_time),
        "leaseTransitions": record.transitions,
    }


class _LeaseSpec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _RawLease(msgspec.Struct):
    spec: _LeaseSpec | None = None


_LEASE_DECODER = msgspec.json.Decoder(_RawLease)
_OBJECT_DECODER = msgspec.json.Decoder(dict[str, Any])


def decode_lease(response: ApiResponse, operation: str) -> Lease:
    """Decode the spec, whose fields may be missing or null; without a holder the Lease is free."""
    spec = decode_response(_LEASE_DECODER, response.body, operation).spec or _LeaseSpec()
    record = LeaseRecord(
        holder=spec.holder_identity or "",
        duration=timedelta(seconds=min(max(spec.lease_duration_seconds or 0, 0), MAX_INT32)),
        acquire_time=parse_time(spec.acquire_time),
        renew_time=parse_time(spec.renew_time),
        transitions=min(max(spec.lease_transitions or 0, 0), MAX_INT32 - 1),
    )
    return Lease(record, response.body)


def _decode_object(lease: Lease, operation: str) -> Json:
    return decode_response(_OBJECT_DECODER, lease.raw, operation)
