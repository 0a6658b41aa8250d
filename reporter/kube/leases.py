"""
One Lease of coordination.k8s.io as client-go writes it.

A write is a PUT of the object as it was read, so that it fails when anyone wrote in between, and
so that fields unknown to us (strategy, preferredHolder, labels of an administrator) stay.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias

import msgspec

from reporter.kube.client import Answer, Api
from reporter.kube.decoding import decoded
from reporter.kube.errors import NotFound, Unreachable
from reporter.kube.lease_owners import belongs, given, reference
from reporter.kube.redaction import clean
from reporter.kube.wire_time import micro_time, wire_time
from reporter.model.leases import LeaseOwner, LeaseRecord


Json: TypeAlias = dict[str, Any]

INT32 = 2**31 - 1
"""
The most that the API takes for a number of a Lease; one that is at its end must not bar everyone.
"""


@dataclass(frozen=True, slots=True)
class Lease:
    """
    A record as it was read; *source* is the whole object, and nobody's business but ours.
    """

    record: LeaseRecord
    source: bytes = field(repr=False, compare=False)


def nobody() -> None:
    """
    For a process that no Deployment runs.
    """


class LeaseBook:
    """
    Raises KubeError for all that goes wrong; repeats nothing.

    *owner*: whose a Lease is from its creation on; one that was made already needs *own*.
    """

    def __init__(
        self,
        api: Api,
        namespace: str,
        name: str,
        *,
        owner: Callable[[], LeaseOwner | None] = nobody,
    ) -> None:
        self._api = api
        self._owner = owner
        self._namespace = namespace
        self._name = name
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"

    def __str__(self) -> str:
        return f"{self._namespace}/{self._name}"

    async def read(self) -> Lease | None:
        doing = f"read lease {self}"
        try:
            answer = await self._api.call("GET", f"{self._path}/{self._name}", doing=doing)
        except NotFound:
            return None
        return _lease(answer, doing)

    async def create(self, record: LeaseRecord) -> Lease:
        """
        Conflict: another candidate was faster.
        """
        metadata: Json = {"namespace": self._namespace, "name": self._name}
        if (owner := self._owner()) is not None:
            metadata["ownerReferences"] = [reference(owner)]
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": encode_record(record),
        }
        doing = f"create lease {self}"
        return _lease(
            await self._api.call("POST", self._path, body=_json(body), doing=doing), doing
        )

    async def update(self, lease: Lease, record: LeaseRecord) -> Lease:
        """
        Conflict: it was written since *lease* was read. NotFound: it was deleted.
        """
        doing = f"update lease {self}"
        body = _object(lease, doing)
        body["spec"] = {**(body.get("spec") or {}), **encode_record(record)}
        return await self._put(body, doing)

    async def own(self, lease: Lease, owner: LeaseOwner) -> Lease:
        """
        Make *owner* one of its owners, unless it is. Conflict: it was written since *lease* was read.

        Raises msgspec.DecodeError for owners such as no API server writes.
        """
        doing = f"make deployment {owner.name} the owner of lease {self}"
        if belongs(lease.source, owner):
            return lease
        return await self._put(given(_object(lease, doing), owner), doing)

    async def _put(self, body: Json, doing: str) -> Lease:
        path = f"{self._path}/{self._name}"
        return _lease(await self._api.call("PUT", path, body=_json(body), doing=doing), doing)


def encode_record(record: LeaseRecord) -> Json:
    """
    Never a duration of 0, which the API server refuses; a missing time is null.
    """
    return {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": max(int(record.duration.total_seconds()), 1),
        "acquireTime": None if record.acquired is None else micro_time(record.acquired),
        "renewTime": None if record.renewed is None else micro_time(record.renewed),
        "leaseTransitions": record.transitions,
    }


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Lease(msgspec.Struct):
    spec: _Spec | None = None


_LEASES = msgspec.json.Decoder(_Lease)
_OBJECTS = msgspec.json.Decoder(dict[str, Any])


def decode_record(raw: bytes) -> LeaseRecord:
    """
    Fields may be missing or null: ``kubectl create lease`` writes an empty spec, which is free.
    """
    spec = decoded(_LEASES, raw).spec or _Spec()
    return LeaseRecord(
        holder=spec.holder_identity or "",
        duration=timedelta(seconds=min(max(spec.lease_duration_seconds or 0, 0), INT32)),
        acquired=wire_time(spec.acquire_time),
        renewed=wire_time(spec.renew_time),
        transitions=min(max(spec.lease_transitions or 0, 0), INT32 - 1),
    )


def _object(lease: Lease, doing: str) -> Json:
    try:
        return decoded(_OBJECTS, lease.source)
    except msgspec.DecodeError as err:
        raise Unreachable(doing, message=clean(str(err))) from err


def _lease(answer: Answer, doing: str) -> Lease:
    try:
        return Lease(decode_record(answer.body), source=answer.body)
    except msgspec.DecodeError as err:
        raise Unreachable(doing, message=clean(str(err))) from err


def _json(body: Json) -> bytes:
    return json.dumps(body).encode()
