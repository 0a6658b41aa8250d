"""
The objects of one cluster: what may be done to them, whoever asks.

Rule 1: every write goes through here, that of a client and that of the demo's controllers.
Rule 2: this file does not know HTTP.
"""

import uuid
from collections.abc import Callable
from datetime import datetime

from reporter.embedded import crds, defaults, statuses, times, validation
from reporter.embedded.builtin import BUILTIN, CRD, NAMESPACE
from reporter.embedded.decoding import DecodeError, decoded
from reporter.embedded.kinds import Kind
from reporter.embedded.registry import Registry
from reporter.embedded.statuses import Json
from reporter.embedded.storage import Collection, Storage, Stored
from reporter.embedded.strategy import Birth, grows, prepared, same, updated


Change = Callable[[Json], Json]

_KEPT = (
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


class Objects:
    def __init__(self, *, now: Callable[[], datetime], history_limit: int = 10_000) -> None:
        self.now = now
        self.storage = Storage(history_limit=history_limit)
        self.registry = Registry()
        for kind in BUILTIN:
            self.collection(kind)

    def collection(self, kind: Kind) -> Collection:
        return self.storage.collection(kind.group, kind.resource)

    def get(self, kind: Kind, namespace: str, name: str) -> Stored:
        found = self.collection(kind).objects.get(f"{namespace}/{name}" if namespace else name)
        if found is None:
            raise statuses.not_found(kind, name)
        return found

    def create(self, kind: Kind, namespace: str, value: Json, *, dry_run: bool = False) -> Stored:
        """
        Store a new object; its status is what the server gives it.
        """
        _must_fit(kind, value)
        self._must_accept_content(kind, namespace, value)
        if value.get("metadata", {}).get("namespace", namespace) != namespace:
            raise statuses.other_namespace()
        new = prepared(kind, _typed(kind, value), Birth(namespace, str(uuid.uuid4()), self.now()))
        if new["metadata"].pop("resourceVersion", ""):
            text = "resourceVersion should not be set on objects to be created"
            raise statuses.ApiError(500, "", text)
        defaults.fill(kind, new)
        validation.check(kind, new)
        name = new["metadata"]["name"]
        if (f"{namespace}/{name}" if namespace else name) in self.collection(kind).objects:
            raise statuses.already_exists(kind, name)
        if kind == CRD:
            return self._create_crd(new, dry_run=dry_run)
        return self._write(kind, new, dry_run=dry_run)

    def update(
        self, kind: Kind, old: Stored, value: Json, *, subresource: str = "", dry_run: bool = False
    ) -> Stored:
        """
        Replace an object, or its status; the version given must be the one that is stored.
        """
        _must_fit(kind, value)
        _must_be(kind, old, value.setdefault("metadata", {}))
        new = updated(kind, old.value, _typed(kind, value), subresource)
        defaults.fill(kind, new)
        validation.check(kind, new)
        if same(old.value, new):
            return old
        stored = self._write(kind, new, dry_run=dry_run)
        if kind == CRD and not subresource and not dry_run:
            self.registry.serve(stored.value)
        return stored

    def patch(
        self,
        kind: Kind,
        old: Stored,
        change: Change,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Stored:
        """
        Change an object by a function of what it is now.
        """
        value = change({"apiVersion": kind.api_version, "kind": kind.kind, **old.fresh()})
        uid = value.get("metadata", {}).get("uid")
        if uid != old.value["metadata"]["uid"]:
            validation.immutable(kind, old.name, "metadata.uid", uid)
        try:
            decoded(kind, value)
        except DecodeError as err:
            raise statuses.unpatchable(value, str(err)) from err
        return self.update(kind, old, value, subresource=subresource, dry_run=dry_run)

    def put(self, manifest: Json) -> Stored:
        """
        Store a manifest as it is, status and times included, over what may be there: for filling.
        """
        kind = self.registry.of(manifest["apiVersion"], manifest["kind"])
        given = manifest["metadata"]
        namespace = given.get("namespace", "")
        key = f"{namespace}/{given['name']}" if namespace else given["name"]
        old = self.collection(kind).objects.get(key)
        typed = _typed(kind, manifest)
        new = prepared(kind, typed, Birth(namespace, str(uuid.uuid4()), self.now()))
        before = old.value["metadata"] if old else {}
        kept = {**before, **given}
        new["metadata"].update({key: kept[key] for key in _KEPT if key in kept})
        new["metadata"].pop("resourceVersion", None)
        if "status" in typed:
            new["status"] = typed["status"]
        defaults.fill(kind, new)
        if old and same(old.value, new):
            return old
        if old and grows(kind, old.value, new):
            new["metadata"]["generation"] += 1
        return self._create_crd(new) if kind == CRD else self._write(kind, new)

    def _write(self, kind: Kind, value: Json, *, dry_run: bool = False) -> Stored:
        if dry_run:
            return Stored(
                value["metadata"].get("namespace", ""), value["metadata"]["name"], 0, value, b""
            )
        return self.storage.write(self.collection(kind), value)

    def _create_crd(self, value: Json, *, dry_run: bool = False) -> Stored:
        """
        Store it, serve it, and then write down that it is served, as two versions.
        """
        crds.with_names(value)
        value["status"] = crds.new_status(value)
        stored = self._write(CRD, value, dry_run=dry_run)
        if dry_run:
            return stored
        self.registry.serve(value)
        for kind in crds.kinds_of(value):
            self.collection(kind)
        now = times.seconds(self.now())
        self._write(CRD, {**stored.fresh(), "status": crds.established(value, now)})
        return stored

    def _must_accept_content(self, kind: Kind, namespace: str, value: Json) -> None:
        if not kind.namespaced:
            return
        home = self.collection(NAMESPACE).objects.get(namespace)
        if home is None:
            raise statuses.not_found(NAMESPACE, namespace)
        if "deletionTimestamp" in home.value["metadata"]:
            name = value.get("metadata", {}).get("name", "")
            raise statuses.terminating(kind, name, namespace)


def _must_be(kind: Kind, old: Stored, meta: Json) -> None:
    """
    Refuse an update that names another object, or another version of it, than is stored.
    """
    if meta.get("name", old.name) != old.name:
        text = f"the name of the object ({meta['name']}) does not match the name on the URL"
        raise statuses.bad_request(f"{text} ({old.name})")
    if meta.get("namespace", old.namespace) != old.namespace:
        raise statuses.other_namespace()
    uid = old.value["metadata"]["uid"]
    if meta.get("uid", uid) != uid:
        text = (
            f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: {uid}"
        )
        raise statuses.conflict(kind, old.name, text)
    if meta.get("resourceVersion") and meta["resourceVersion"] != str(old.version):
        raise statuses.conflict(kind, old.name)


def _typed(kind: Kind, value: Json) -> Json:
    try:
        return decoded(kind, value)
    except DecodeError as err:
        version = f'{kind.kind} in version "{kind.version}"'
        raise statuses.bad_request(f"{version} cannot be handled as a {kind.kind}: {err}") from err


def _must_fit(kind: Kind, value: Json) -> None:
    """
    Refuse an object of another kind or version than the path says.
    """
    kind_name, version = value.get("kind"), value.get("apiVersion")
    name = value.get("metadata", {}).get("name", "")
    if kind.custom:
        _must_fit_custom(kind, kind_name, version, name)
        return
    if version not in {None, kind.api_version}:
        text = f'no kind "{kind_name}" is registered for version "{version}" in scheme'
        full = (
            f'{kind_name} in version "{kind.version}" cannot be handled as a {kind.kind}: {text}'
        )
        raise statuses.bad_request(full)
    if kind_name not in {None, kind.kind}:
        text = f'{kind_name} in version "{kind.version}" cannot be handled as a {kind.kind}: '
        raise statuses.bad_request(
            f"{text}converting (v1.{kind_name}) to (core.{kind.kind}): unknown conversion"
        )


def _must_fit_custom(kind: Kind, kind_name: str | None, version: str | None, name: str) -> None:
    if not kind_name:
        text = f"the object provided is unrecognized (must be of type {kind.kind}): "
        raise statuses.bad_request(f"{text}Object 'Kind' is missing")
    if version != kind.api_version:
        text = f"the API version in the data ({version}) does not match the expected API version"
        raise statuses.bad_request(f"{text} ({kind.api_version})")
    if kind_name != kind.kind:
        cause = statuses.invalid_value("kind", kind_name, f"must be {kind.kind}")
        raise statuses.invalid(kind_name, kind.group, name, [cause])
