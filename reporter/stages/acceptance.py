"""
What a Gateway's controller says of a route that refers to it, and of the pool behind that.
"""

import re
from dataclasses import replace

from reporter.model.gateway_objects import HTTPRoute, InferencePool, ParentStatus
from reporter.model.kinds import HTTP_ROUTES, INFERENCE_POOLS, ResourceKind
from reporter.model.objects import ApiObject, Condition, condition
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.model.words import Kind
from reporter.stages.conditions import named, since, stale
from reporter.stages.ruling import Found


SHADOW = re.compile(r"-ip-[0-9a-f]+")
"""
The Service that Istio makes for an InferencePool, which exists some seconds after the pool.
"""

NO_PICKER = frozenset({"InvalidExtensionRef", "EndpointPickerRefMissing"})


def of_route(route: HTTPRoute, entry: ParentStatus | None, gateway: str) -> Found | None:
    if entry is None:
        state = f"was not answered by the controller of its Gateway {gateway}"
        return trouble(HTTP_ROUTES, route, "Unseen", Kind.STARTING, state)
    accepted, resolved = _both(entry)
    late = _stale(HTTP_ROUTES, route, accepted, resolved)
    if late:
        return late
    if accepted is None or accepted.status == "Unknown" or accepted.reason == "Pending":
        state = f"is not accepted by Gateway {gateway} yet"
        return trouble(HTTP_ROUTES, route, "Unseen", Kind.STARTING, state, accepted)
    if accepted.status == "False":
        state = f"is not accepted by Gateway {gateway} ({named(accepted)})"
        return trouble(HTTP_ROUTES, route, "NotAccepted", Kind.FAILED, state, accepted)
    if resolved is None or resolved.status != "False":
        return None
    passing = SHADOW.search(resolved.message or "") is not None
    state = f"has a backend that does not resolve ({named(resolved)})"
    kind = Kind.STARTING if passing else Kind.FAILED
    return trouble(HTTP_ROUTES, route, "NotResolved", kind, state, resolved)


def of_pool(pool: InferencePool, entry: ParentStatus | None, gateway: str) -> Found | None:
    """
    A pool of which the controller says nothing may be one of a controller that never does.
    """
    if entry is None:
        return None
    accepted, resolved = _both(entry)
    late = _stale(INFERENCE_POOLS, pool, accepted, resolved)
    if late:
        return late
    if accepted is not None and accepted.status == "False" and accepted.reason != "Pending":
        state = f"is not accepted by Gateway {gateway} ({named(accepted)})"
        return trouble(INFERENCE_POOLS, pool, "PoolNotAccepted", Kind.FAILED, state, accepted)
    if resolved is None or resolved.status != "False":
        return None
    if resolved.reason not in NO_PICKER:
        state = f"does not resolve ({named(resolved)})"
        return trouble(INFERENCE_POOLS, pool, "PoolNotAccepted", Kind.FAILED, state, resolved)
    picker = pool.spec.endpoint_picker_ref
    lacks = f"Service {picker.name}, which does not exist" if picker is not None else "nothing"
    state = f"has as its endpoint picker {lacks} ({named(resolved)})"
    return trouble(INFERENCE_POOLS, pool, "PickerNotFound", Kind.FAILED, state, resolved)


def _both(entry: ParentStatus) -> tuple[Condition | None, Condition | None]:
    conditions = entry.conditions
    return condition(conditions, "Accepted"), condition(conditions, "ResolvedRefs")


def _stale(kind: ResourceKind, about: ApiObject, *found: Condition | None) -> Found | None:
    meta = about.metadata
    for each in found:
        late = stale(each, meta, f"{kind.kind} {meta.namespace}/{meta.name}") if each else None
        if late:
            return late
    return None


def trouble(
    resource: ResourceKind,
    about: ApiObject,
    code: str,
    kind: Kind,
    state: str,
    by: Condition | None = None,
) -> Trouble:
    """
    *by*: the condition that states it.
    """
    meta = about.metadata
    found = Trouble(
        cause=Cause(ObjectRef(resource.qualified, meta.namespace, meta.name), code),
        kind=kind,
        out=True,
        born=meta.creation_timestamp,
        fields={"object": f"{resource.kind} {meta.name}", "state": state},
    )
    return replace(found, since=since(by, meta), foreign=by.message or "") if by else found
