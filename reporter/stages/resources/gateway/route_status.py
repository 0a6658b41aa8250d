"""
Trouble that a Gateway's controller reports about a route and about the InferencePool behind it.

Sources: Gateway API (RouteParentStatus) and the Inference Extension (InferencePool status.parents).
"""

import re

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.objects import ApiObject, Metadata
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES, HTTPRoute
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS, InferencePool
from reporter.model.kinds.gateway_api.parents import ParentStatus
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.stages.resources.check_result import CheckResult
from reporter.stages.resources.conditions import (
    check_observed_generations,
    reason_text,
    with_condition,
)


SHADOW_SERVICE = re.compile(r"-ip-[0-9a-f]+")
"""
The name ``<pool>-ip-<hash>`` of the Service that Istio creates for each InferencePool.

A new route reports BackendNotFound for some seconds until this Service exists
(Istio, pilot/pkg/config/kube/gateway/inferencepool_collection.go).
"""

PICKER_MISSING_REASONS = frozenset({"InvalidExtensionRef", "EndpointPickerRefMissing"})
"""
Reasons of a pool's ResolvedRefs=False for an endpoint picker that is missing or not named.
"""


def evaluate_route_status(
    route: HTTPRoute, parent_status: ParentStatus | None, gateway: str
) -> CheckResult | None:
    """
    Check what the controller of *gateway* wrote about a route; None if it wrote nothing.
    """
    if parent_status is None:
        state = f"was not answered by the controller of its Gateway {gateway}"
        return routing_trouble(HTTP_ROUTES, route, "Unseen", TroubleKind.STARTING, state)
    accepted, resolved = _accepted_and_resolved(parent_status)
    stale = check_observed_generations(
        (accepted, resolved), route.metadata, _full_name(HTTP_ROUTES, route.metadata)
    )
    if stale:
        return stale
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
    is_transient = SHADOW_SERVICE.search(resolved.message or "") is not None
    state = f"has a backend that does not resolve ({reason_text(resolved)})"
    kind = TroubleKind.STARTING if is_transient else TroubleKind.FAILED
    return routing_trouble(HTTP_ROUTES, route, "NotResolved", kind, state, resolved)


def evaluate_pool_status(
    pool: InferencePool, parent_status: ParentStatus | None, gateway: str
) -> CheckResult | None:
    """
    Check what the controller of *gateway* wrote about a pool.

    Nothing written is no trouble, unlike for a route: not every controller reports on pools.
    """
    if parent_status is None:
        return None
    accepted, resolved = _accepted_and_resolved(parent_status)
    stale = check_observed_generations(
        (accepted, resolved), pool.metadata, _full_name(INFERENCE_POOLS, pool.metadata)
    )
    if stale:
        return stale
    if accepted is not None and accepted.status == "False" and accepted.reason != "Pending":
        state = f"is not accepted by Gateway {gateway} ({reason_text(accepted)})"
        return routing_trouble(
            INFERENCE_POOLS, pool, "PoolNotAccepted", TroubleKind.FAILED, state, accepted
        )
    if resolved is None or resolved.status != "False":
        return None
    return _unresolved_pool_trouble(pool, resolved)


def _unresolved_pool_trouble(pool: InferencePool, resolved: Condition) -> Trouble:
    if resolved.reason not in PICKER_MISSING_REASONS:
        code, state = "PoolNotAccepted", f"does not resolve ({reason_text(resolved)})"
    else:
        picker = pool.spec.endpoint_picker_ref
        target = (
            f"Service {picker.name}, which does not exist" if picker is not None else "nothing"
        )
        code = "PickerNotFound"
        state = f"has as its endpoint picker {target} ({reason_text(resolved)})"
    return routing_trouble(INFERENCE_POOLS, pool, code, TroubleKind.FAILED, state, resolved)


def _accepted_and_resolved(
    parent_status: ParentStatus,
) -> tuple[Condition | None, Condition | None]:
    conditions = parent_status.conditions
    return find_condition(conditions, "Accepted"), find_condition(conditions, "ResolvedRefs")


def _full_name(resource: ResourceKind, meta: Metadata) -> str:
    return f"{resource.kind} {meta.namespace}/{meta.name}"


def routing_trouble(
    resource: ResourceKind,
    about: ApiObject,
    code: str,
    kind: TroubleKind,
    state: str,
    condition: Condition | None = None,
) -> Trouble:
    """
    Build the trouble of a route or a pool; *condition* is the one that states it, if any does.
    """
    meta = about.metadata
    trouble = Trouble(
        cause=Cause(ObjectRef(resource.group_resource, meta.namespace, meta.name), code),
        kind=kind,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        message_fields={"object": f"{resource.kind} {meta.name}", "state": state},
    )
    return with_condition(trouble, condition, meta) if condition is not None else trouble
