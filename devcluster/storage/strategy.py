"""Preparation of an object that a client sent for storage. Pure."""

from dataclasses import dataclass
from datetime import datetime

from devcluster.schema import times
from devcluster.schema.api_errors import Json
from devcluster.schema.kinds import GenerationPolicy, ServedKind


SERVER_OWNED_METADATA = (
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


@dataclass(frozen=True, slots=True)
class SystemFields:
    """The fields that the server sets in a new object."""

    namespace: str
    uid: str
    now: datetime


def prepare_for_create(kind: ServedKind, value: Json, system: SystemFields) -> Json:
    """Return a new object as it will be stored."""
    meta = {k: v for k, v in value.get("metadata", {}).items() if k not in SERVER_OWNED_METADATA}
    meta.pop("managedFields", None)
    meta.pop("selfLink", None)
    if kind.namespaced:
        meta["namespace"] = system.namespace
    meta["uid"] = system.uid
    meta["creationTimestamp"] = times.format_time(system.now)
    if kind.generation is not GenerationPolicy.NEVER:
        meta["generation"] = 1
    body = _without(value, {"metadata", "kind", "apiVersion"})
    if kind.has_status:
        body.pop("status", None)
    return {"metadata": meta, **body}


def prepare_for_update(kind: ServedKind, old: Json, value: Json, subresource: str) -> Json:
    """Return an object after an update of the main resource, or of *subresource* `status`."""
    if subresource == "status":
        rest = _without(old, {"status"})
        return {**rest, "status": value["status"]} if "status" in value else rest
    body = _without(value, {"metadata", "kind", "apiVersion"})
    if kind.has_status:
        body.pop("status", None)
        if "status" in old:
            body["status"] = old["status"]
    new = {"metadata": _updated_metadata(old["metadata"], value["metadata"]), **body}
    if bumps_generation(kind, old, new):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
    return new


def _updated_metadata(old: Json, new: Json) -> Json:
    owned = {key: old[key] for key in SERVER_OWNED_METADATA if key in old}
    meta = {
        k: v
        for k, v in new.items()
        if k not in {*SERVER_OWNED_METADATA, "managedFields", "selfLink"}
    }
    meta.update({key: old[key] for key in ("name", "namespace") if key in old})
    return {**meta, **owned}


def bumps_generation(kind: ServedKind, old: Json, new: Json) -> bool:
    """Return whether a change raises metadata.generation."""
    match kind.generation:
        case GenerationPolicy.NEVER:
            return False
        case GenerationPolicy.SPEC:
            return old.get("spec") != new.get("spec")
        case GenerationPolicy.SPEC_AND_ANNOTATIONS:
            annotations = [value["metadata"].get("annotations") or {} for value in (old, new)]
            return old.get("spec") != new.get("spec") or annotations[0] != annotations[1]
        case GenerationPolicy.ALL_BUT_STATUS:
            excluded = {"metadata", "status"} if kind.has_status else {"metadata"}
            return _without(old, excluded) != _without(new, excluded)


def _without(value: Json, keys: set[str]) -> Json:
    return {k: v for k, v in value.items() if k not in keys}


def is_unchanged(old: Json, new: Json) -> bool:
    """Return whether an update changes nothing: no new version, no watch event."""
    before = {**old, "metadata": _without(old["metadata"], {"resourceVersion"})}
    after = {**new, "metadata": _without(new["metadata"], {"resourceVersion"})}
    return before == after
