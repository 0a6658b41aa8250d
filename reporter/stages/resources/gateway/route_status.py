"""
Trouble that a Gateway's controller reports about a route and about the InferencePool behind it.

Sources: Gateway API (RouteParentStatus) and the Inference Extension (InferencePool status.parents).
"""

import re

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES, HTTPRoute
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS, InferencePool
from reporter.model.kinds.gateway_api.parents import ParentStatus
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.stages.resources.check_result import CheckResult, first_trouble
from reporter.stages.resources.conditions import (
    MAX_REASON_BYTES,
    check_observed_generation,
    reason_text,
    with_condition,
)
from reporter.stages.text.sanitize import sanitize, truncate_bytes


SHADOW_SERVICE = re.compile(r"-ip-[0-9a-f]+")
"""
The name ``<pool>-ip-<hash>`` of the Service that Istio creates for each InferencePool.

A new route reports BackendNotFound for some seconds until this Service exists
(Istio, pilot/pkg/config/kube/gateway/inferencepool_collection.go).
"""

PICKER_REASONS = frozenset({"InvalidExtensionRef", "EndpointPickerRefMissing"})
"""Reasons of a pool's ResolvedRefs=False for its endpoint picker."""

SERVICE = "Service"
"""The kind that an endpointPickerRef has by default."""

PICKER_NOT_FOUND, PICKER_INVALID = "PickerNotFound", "PickerInvalid"

NOT_FOUND_BY_ISTIO = "Referenced ExtensionRef not found"
"""
The beginning of Istio's message about a Service that did not exist when it last looked at the pool.
"""


def evaluate_route_status(
    route: HTTPRoute, parent_status: ParentStatus | None, gateway: str
) -> CheckResult | None:
    """Check what the controller of *gateway* wrote about a route; None if it wrote nothing."""
    if parent_status is None:
        state = f"was not answered by the controller of its Gateway {gateway}"
        return routing_trouble(HTTP_ROUTES, route, "Unseen", TroubleKind.STARTING, state)
    accepted, resolved = _accepted_and_resolved(parent_status)
    return first_trouble(
        check_observed_generation(accepted, route.metadata, HTTP_ROUTES.kind)
        or _unaccepted_route_trouble(route, accepted, gateway),
        check_observed_generation(resolved, route.metadata, HTTP_ROUTES.kind)
        or _unresolved_route_trouble(route, resolved),
    )


def _unaccepted_route_trouble(
    route: HTTPRoute, accepted: Condition | None, gateway: str
) -> Trouble | None:
    if accepted is None or accepted.status == "Unknown" or accepted.reason == "Pending":
        state = f"is not accepted by Gateway {gateway} yet"
        return routing_trouble(HTTP_ROUTES, route, "Unseen", TroubleKind.STARTING, state, accepted)
    if accepted.status == "False":
        state = f"is not accepted by Gateway {gateway} ({reason_text(accepted)})"
        return routing_trouble(
            HTTP_ROUTES, route, "NotAccepted", TroubleKind.FAILED, state, accepted
        )
    return None


def _unresolved_route_trouble(route: HTTPRoute, resolved: Condition | None) -> Trouble | None:
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
    return first_trouble(
        check_observed_generation(accepted, pool.metadata, INFERENCE_POOLS.kind)
        or _unaccepted_pool_trouble(pool, accepted, gateway),
        check_observed_generation(resolved, pool.metadata, INFERENCE_POOLS.kind)
        or _unresolved_pool_trouble(pool, resolved),
    )


def _unaccepted_pool_trouble(
    pool: InferencePool, accepted: Condition | None, gateway: str
) -> Trouble | None:
    if accepted is None or accepted.status != "False" or accepted.reason == "Pending":
        return None
    state = f"is not accepted by Gateway {gateway} ({reason_text(accepted)})"
    return routing_trouble(
        INFERENCE_POOLS, pool, "PoolNotAccepted", TroubleKind.FAILED, state, accepted
    )


def _unresolved_pool_trouble(pool: InferencePool, resolved: Condition | None) -> Trouble | None:
    if resolved is None or resolved.status != "False":
        return None
    code, state = "PoolNotAccepted", "does not resolve"
    if resolved.reason in PICKER_REASONS:
        if picker_service(pool) and (resolved.message or "").startswith(NOT_FOUND_BY_ISTIO):
            # Istio does not look again when the Service comes; the Service itself is read.
            return None
        code, state = PICKER_INVALID, _describe_picker(pool)
    state = f"{state} ({reason_text(resolved)})"
    return routing_trouble(INFERENCE_POOLS, pool, code, TroubleKind.FAILED, state, resolved)


def _describe_picker(pool: InferencePool) -> str:
    """
    Return the message of a pool whose endpoint picker does not resolve.

    Istio gives one reason for a Service that does not exist, for a kind that it does not support and
    for a reference without a name (pilot/pkg/config/kube/gateway/inferencepool_collection.go).
    """
    picker = pool.spec.endpoint_picker_ref
    if picker is None or not picker.name:
        return "names no endpoint picker"
    kind = truncate_bytes(sanitize(picker.kind or SERVICE), MAX_REASON_BYTES)
    return f"has as its endpoint picker {kind} {picker.name}, which does not resolve"


def picker_service(pool: InferencePool) -> str:
    """Return the name of the Service that is a pool's endpoint picker, "" if it names none."""
    picker = pool.spec.endpoint_picker_ref
    if picker is None or picker.group or (picker.kind or SERVICE) != SERVICE:
        return ""
    return picker.name


def _accepted_and_resolved(
    parent_status: ParentStatus,
) -> tuple[Condition | None, Condition | None]:
    conditions = parent_status.conditions
    return find_condition(conditions, "Accepted"), find_condition(conditions, "ResolvedRefs")


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
