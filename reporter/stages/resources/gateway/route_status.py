"""
What a Gateway's controller says of a route that refers to it, and of the pool behind that.
"""

import re
from dataclasses import replace

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES, HTTPRoute
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS, InferencePool
from reporter.model.kinds.gateway_api.parents import ParentStatus
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.stages.resources.check_result import CheckResult
from reporter.stages.resources.conditions import (
    check_observed_generation,
    reason_text,
    transition_time,
)


SHADOW_SERVICE = re.compile(r"-ip-[0-9a-f]+")
"""
The Service that Istio makes for an InferencePool, which exists some seconds after the pool.
"""

PICKER_MISSING_REASONS = frozenset({"InvalidExtensionRef", "EndpointPickerRefMissing"})


def evaluate_route_status(
    route: HTTPRoute, entry: ParentStatus | None, gateway: str
) -> CheckResult | None:
    if entry is None:
        state = f"was not answered by the controller of its Gateway {gateway}"
        return routing_trouble(HTTP_ROUTES, route, "Unseen", TroubleKind.STARTING, state)
    accepted, resolved = _accepted_and_resolved(entry)
    late = _check_observed_generations(HTTP_ROUTES, route, accepted, resolved)
    if late:
        return late
    if accepted is None or accepted.status == "Unknown" or accepted.reason == "Pending":
        state = f"is not accepted by Gateway {gateway} yet"
        return routing_trouble(HTTP_ROUTES, route, "Unseen", TroubleKind.STARTING, state, accepted)
    if accepted.status == "False":
        state = f"is not accepted by Gateway {gateway} ({reason_text(accepted)})"
        return routing_trouble(
            HTTP_ROUTES, route, "NotAccepted", TroubleKind.FAILED, state, accepted
        )
    if resolved is None or resolved.status != "False":
        return None
    passing = SHADOW_SERVICE.search(resolved.message or "") is not None
    state = f"has a backend that does not resolve ({reason_text(resolved)})"
    kind = TroubleKind.STARTING if passing else TroubleKind.FAILED
    return routing_trouble(HTTP_ROUTES, route, "NotResolved", kind, state, resolved)


def evaluate_pool_status(
    pool: InferencePool, entry: ParentStatus | None, gateway: str
) -> CheckResult | None:
    """
    A pool of which the controller says nothing may be one of a controller that never does.
    """
    if entry is None:
        return None
    accepted, resolved = _accepted_and_resolved(entry)
    late = _check_observed_generations(INFERENCE_POOLS, pool, accepted, resolved)
    if late:
        return late
    if accepted is not None and accepted.status == "False" and accepted.reason != "Pending":
        state = f"is not accepted by Gateway {gateway} ({reason_text(accepted)})"
        return routing_trouble(
            INFERENCE_POOLS, pool, "PoolNotAccepted", TroubleKind.FAILED, state, accepted
        )
    if resolved is None or resolved.status != "False":
        return None
    if resolved.reason not in PICKER_MISSING_REASONS:
        state = f"does not resolve ({reason_text(resolved)})"
        return routing_trouble(
            INFERENCE_POOLS, pool, "PoolNotAccepted", TroubleKind.FAILED, state, resolved
        )
    picker = pool.spec.endpoint_picker_ref
    lacks = f"Service {picker.name}, which does not exist" if picker is not None else "nothing"
    state = f"has as its endpoint picker {lacks} ({reason_text(resolved)})"
    return routing_trouble(
        INFERENCE_POOLS, pool, "PickerNotFound", TroubleKind.FAILED, state, resolved
    )


def _accepted_and_resolved(entry: ParentStatus) -> tuple[Condition | None, Condition | None]:
    conditions = entry.conditions
    return find_condition(conditions, "Accepted"), find_condition(conditions, "ResolvedRefs")


def _check_observed_generations(
    kind: ResourceKind, about: ApiObject, *found: Condition | None
) -> CheckResult | None:
    meta = about.metadata
    for each in found:
        late = (
            check_observed_generation(each, meta, f"{kind.kind} {meta.namespace}/{meta.name}")
            if each
            else None
        )
        if late:
            return late
    return None


def routing_trouble(
    resource: ResourceKind,
    about: ApiObject,
    code: str,
    kind: TroubleKind,
    state: str,
    by: Condition | None = None,
) -> Trouble:
    """
    *by*: the condition that states it.
    """
    meta = about.metadata
    found = Trouble(
        cause=Cause(ObjectRef(resource.group_resource, meta.namespace, meta.name), code),
        kind=kind,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        message_fields={"object": f"{resource.kind} {meta.name}", "state": state},
    )
    return (
        replace(found, since=transition_time(by, meta), foreign_text=by.message or "")
        if by
        else found
    )
