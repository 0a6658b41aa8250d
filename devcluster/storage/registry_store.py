"""
The objects of one cluster, with the API server's rules for writes.

Rule 1: every write goes through here, from clients and from the controllers in memory.
Rule 2: this file does not know HTTP.
"""

import uuid
from collections.abc import Callable
from datetime import datetime

from devcluster.schema import api_errors, crds, defaults, times
from devcluster.schema.api_errors import Json
from devcluster.schema.builtin_kinds import BUILTIN_KINDS, CRD, NAMESPACE
from devcluster.schema.decoding import FieldDecodeError, decode_typed
from devcluster.schema.kind_registry import KindRegistry
from devcluster.schema.kinds import ServedKind
from devcluster.schema.validation import validate
from devcluster.storage.storage import Collection, Storage, StoredObject, object_key
from devcluster.storage.strategy import (
    SERVER_OWNED_METADATA,
    SystemFields,
    bumps_generation,
    is_unchanged,
    prepare_for_create,
    prepare_for_update,
)


Mutation = Callable[[Json], Json]


class RegistryStore:
    def __init__(self, *, now: Callable[[], datetime]) -> None:
        self.now = now
        self.storage = Storage()
        self.registry = KindRegistry()
        for kind in BUILTIN_KINDS:
            self.collection(kind)

    def collection(self, kind: ServedKind) -> Collection:
        return self.storage.collection(kind.group, kind.resource)

    def get(self, kind: ServedKind, namespace: str, name: str) -> StoredObject:
        found = self.collection(kind).objects.get(object_key(namespace, name))
        if found is None:
            raise api_errors.not_found(kind, name)
        return found

    def create(self, kind: ServedKind, namespace: str, value: Json) -> StoredObject:
        """Store a new object without the status that the client sent."""
        _check_type_meta(kind, value)
        self._check_namespace(kind, namespace, value)
        if value.get("metadata", {}).get("namespace", namespace) != namespace:
            raise api_errors.namespace_mismatch()
        new = prepare_for_create(
            kind, _decode(kind, value), SystemFields(namespace, str(uuid.uuid4()), self.now())
        )
        if new["metadata"].pop("resourceVersion", ""):
            text = "resourceVersion should not be set on objects to be created"
            raise api_errors.ApiError(500, "", text)
        defaults.apply_defaults(kind, new)
        validate.validate_object(kind, new)
        name = new["metadata"]["name"]
        if object_key(namespace, name) in self.collection(kind).objects:
            raise api_errors.already_exists(kind, name)
        if kind == CRD:
            return self._create_crd(new)
        return self._write(kind, new)

    def update(
        self,
        kind: ServedKind,
        old: StoredObject,
        value: Json,
        *,
        subresource: str = "",
    ) -> StoredObject:
        """Replace an object or its status. Raise a conflict if it has another resourceVersion."""
        _check_type_meta(kind, value)
        _check_identity(kind, old, value.setdefault("metadata", {}))
        new = prepare_for_update(kind, old.value, _decode(kind, value), subresource)
        defaults.apply_defaults(kind, new)
        validate.validate_object(kind, new)
        if is_unchanged(old.value, new):
            return old
        stored = self._write(kind, new)
        if kind == CRD and not subresource:
            self.registry.add_crd(stored.value)
        return stored

    def patch(
        self,
        kind: ServedKind,
        old: StoredObject,
        change: Mutation,
        *,
        subresource: str = "",
    ) -> StoredObject:
        """Apply a change to an object."""
        value = change({"apiVersion": kind.api_version, "kind": kind.kind, **old.mutable_copy()})
        uid = value.get("metadata", {}).get("uid")
        if uid != old.value["metadata"]["uid"]:
            validate.reject_immutable_change(kind, old.name, "metadata.uid", uid)
        try:
            decode_typed(kind, value)
        except FieldDecodeError as err:
            raise api_errors.invalid_patch_result(value, str(err)) from err
        return self.update(kind, old, value, subresource=subresource)

    def upsert(self, manifest: Json) -> StoredObject:
        """Store a manifest as it is, with status and times, in place of an existing object."""
        kind = self.registry.by_type_meta(manifest["apiVersion"], manifest["kind"])
        metadata = manifest["metadata"]
        namespace = metadata.get("namespace", "")
        old = self.collection(kind).objects.get(object_key(namespace, metadata["name"]))
        typed = _decode(kind, manifest)
        new = prepare_for_create(
            kind, typed, SystemFields(namespace, str(uuid.uuid4()), self.now())
        )
        before = old.value["metadata"] if old else {}
        merged = {**before, **metadata}
        new["metadata"].update(
            {key: merged[key] for key in SERVER_OWNED_METADATA if key in merged}
        )
        new["metadata"].pop("resourceVersion", None)
        if "status" in typed:
            new["status"] = typed["status"]
        defaults.apply_defaults(kind, new)
        if old and is_unchanged(old.value, new):
            return old
        if old and bumps_generation(kind, old.value, new):
            new["metadata"]["generation"] += 1
        return self._create_crd(new) if kind == CRD else self._write(kind, new)

    def _write(self, kind: ServedKind, value: Json) -> StoredObject:
        return self.storage.write(self.collection(kind), value)

    def _create_crd(self, value: Json) -> StoredObject:
        """Store a CRD, serve its kinds, then write its Established status as a second version."""
        crds.apply_name_defaults(value)
        value["status"] = crds.initial_status(value)
        stored = self._write(CRD, value)
        self.registry.add_crd(value)
        for kind in crds.served_kinds(value):
            self.collection(kind)
        now = times.format_time(self.now())
        self._write(CRD, {**stored.mutable_copy(), "status": crds.established_status(value, now)})
        return stored

    def _check_namespace(self, kind: ServedKind, namespace: str, value: Json) -> None:
        if not kind.namespaced:
            return
        stored = self.collection(NAMESPACE).objects.get(namespace)
        if stored is None:
            raise api_errors.not_found(NAMESPACE, namespace)
        if "deletionTimestamp" in stored.value["metadata"]:
            name = value.get("metadata", {}).get("name", "")
            raise api_errors.namespace_terminating(kind, name, namespace)


def _check_identity(kind: ServedKind, old: StoredObject, meta: Json) -> None:
    """
    Refuse an update with another name, namespace, uid or resourceVersion than the stored object.
    """
    if meta.get("name", old.name) != old.name:
        text = f"the name of the object ({meta['name']}) does not match the name on the URL"
        raise api_errors.bad_request(f"{text} ({old.name})")
    if meta.get("namespace", old.namespace) != old.namespace:
        raise api_errors.namespace_mismatch()
    uid = old.value["metadata"]["uid"]
    if meta.get("uid", uid) != uid:
        text = (
            f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: {uid}"
        )
        raise api_errors.conflict(kind, old.name, text)
    if meta.get("resourceVersion") and meta["resourceVersion"] != str(old.resource_version):
        raise api_errors.conflict(kind, old.name)


def _decode(kind: ServedKind, value: Json) -> Json:
    try:
        return decode_typed(kind, value)
    except FieldDecodeError as err:
        version = f'{kind.kind} in version "{kind.version}"'
        raise api_errors.bad_request(
            f"{version} cannot be handled as a {kind.kind}: {err}"
        ) from err


def _check_type_meta(kind: ServedKind, value: Json) -> None:
    """Refuse an object whose kind or apiVersion differs from that of the path."""
    kind_name, version = value.get("kind"), value.get("apiVersion")
    name = value.get("metadata", {}).get("name", "")
    if kind.is_custom:
        _check_custom_type_meta(kind, kind_name, version, name)
        return
    if version not in {None, kind.api_version}:
        text = f'no kind "{kind_name}" is registered for version "{version}" in scheme'
        full = (
            f'{kind_name} in version "{kind.version}" cannot be handled as a {kind.kind}: {text}'
        )
        raise api_errors.bad_request(full)
    if kind_name not in {None, kind.kind}:
        text = f'{kind_name} in version "{kind.version}" cannot be handled as a {kind.kind}: '
        raise api_errors.bad_request(
            f"{text}converting (v1.{kind_name}) to (core.{kind.kind}): unknown conversion"
        )


def _check_custom_type_meta(
    kind: ServedKind, kind_name: str | None, version: str | None, name: str
) -> None:
    if not kind_name:
        text = f"the object provided is unrecognized (must be of type {kind.kind}): "
        raise api_errors.bad_request(f"{text}Object 'Kind' is missing")
    if version != kind.api_version:
        text = f"the API version in the data ({version}) does not match the expected API version"
        raise api_errors.bad_request(f"{text} ({kind.api_version})")
    if kind_name != kind.kind:
        cause = api_errors.invalid_value("kind", kind_name, f"must be {kind.kind}")
        raise api_errors.invalid(kind_name, kind.group, name, [cause])
