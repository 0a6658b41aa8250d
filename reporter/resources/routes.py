"""
The routes and InferencePools of an InferenceSet.

Both are found by label, by the modeldeployment chart's names, and by following a route's backendRefs,
which also works where a chart names its objects differently.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.gateway_api import (
    HTTP_ROUTES,
    INFERENCE_POOLS,
    BackendReference,
    HTTPRoute,
    InferencePool,
    ParentReference,
    ParentStatus,
    picker_ref,
)
from reporter.kinds.objects import (
    ENDPOINT_PICKER_SUFFIX,
    POOL_SUFFIX,
    ROUTE_SUFFIX,
    ApiObject,
    Condition,
    backend_pool_key,
    find_condition,
    inference_set_key,
)
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import sanitize, truncate_bytes
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef, Trouble
from reporter.resources.check_result import CheckResult, first_trouble
from reporter.resources.conditions import (
    MAX_REASON_BYTES,
    check_observed_generation,
    object_trouble,
    reason_text,
)
from reporter.resources.gateways import is_gateway_parent
from reporter.snapshot.snapshot import Snapshot


# --------------------------------------------------------------------
# Trouble that a Gateway's controller reports about a route and about the InferencePool behind it.
#
# Sources: Gateway API (RouteParentStatus) and the Inference Extension (InferencePool status.parents).


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
    """
    Check what the controller of *gateway* wrote about a route; *parent_status* is None if it wrote nothing.

    Nothing written is trouble of a start: the controller has yet to see the route.
    """
    if parent_status is None:
        state = f"was not answered by the controller of its Gateway {gateway}"
        return object_trouble(HTTP_ROUTES, route, "Unseen", TroubleKind.STARTING, state)
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
        return object_trouble(HTTP_ROUTES, route, "Unseen", TroubleKind.STARTING, state, accepted)
    if accepted.status == "False":
        state = f"is not accepted by Gateway {gateway} ({reason_text(accepted)})"
        return object_trouble(
            HTTP_ROUTES, route, "NotAccepted", TroubleKind.FAILED, state, accepted
        )
    return None


def _unresolved_route_trouble(route: HTTPRoute, resolved: Condition | None) -> Trouble | None:
    if resolved is None or resolved.status != "False":
        return None
    is_transient = SHADOW_SERVICE.search(resolved.message or "") is not None
    state = f"has a backend that does not resolve ({reason_text(resolved)})"
    kind = TroubleKind.STARTING if is_transient else TroubleKind.FAILED
    return object_trouble(HTTP_ROUTES, route, "NotResolved", kind, state, resolved)


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
    return object_trouble(
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
    return object_trouble(INFERENCE_POOLS, pool, code, TroubleKind.FAILED, state, resolved)


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


T = TypeVar("T", bound=ApiObject)


def find_routes(snapshot: Snapshot, subject: Subject) -> tuple[HTTPRoute, ...]:
    """Return the routes of an InferenceSet, those being deleted included."""
    namespace, name = subject.namespace, subject.name
    by_label = snapshot.by_index(HTTP_ROUTES, HTTPRoute, inference_set_key(namespace, name))
    pool_key = backend_pool_key(namespace, f"{name}{POOL_SUFFIX}")
    by_backend = snapshot.by_index(HTTP_ROUTES, HTTPRoute, pool_key)
    by_name = snapshot.get(HTTP_ROUTES, HTTPRoute, namespace, f"{name}{ROUTE_SUFFIX}")
    return _unique((*by_label, *by_backend, *((by_name,) if by_name is not None else ())))


def find_pools(
    snapshot: Snapshot, subject: Subject, routes: Iterable[HTTPRoute]
) -> tuple[InferencePool, ...]:
    """
    Return the pools of an InferenceSet, also the backends of *routes* and those being deleted.
    """
    namespace, name = subject.namespace, subject.name
    by_label = snapshot.by_index(
        INFERENCE_POOLS, InferencePool, inference_set_key(namespace, name)
    )
    backends = [
        (each.namespace or namespace, each.name)
        for route in routes
        for each in pool_backends(route)
    ]
    # A route usually leads to the pool of the chart's name, which then is looked up once.
    names = {(namespace, f"{name}{POOL_SUFFIX}"), *backends}
    by_name = [snapshot.get(INFERENCE_POOLS, InferencePool, *each) for each in names]
    return _unique((*by_label, *[each for each in by_name if each is not None]))


def _unique(objects: tuple[T, ...]) -> tuple[T, ...]:
    """Return each object once, by namespace and name."""
    # The usual case, one object found in several ways, needs no sorting.
    others = [each for each in objects if each is not objects[0]]
    if not others:
        return objects[:1]
    by_name = {(each.metadata.namespace, each.metadata.name): each for each in objects}
    return tuple([by_name[name] for name in sorted(by_name)])


def pool_backends(route: HTTPRoute) -> Sequence[BackendReference]:
    """Return the backendRefs of a route that name an InferencePool, existing or not."""
    kind, group = INFERENCE_POOLS.kind, INFERENCE_POOLS.group
    return [
        each
        for rule in route.spec.rules or ()
        for each in rule.backend_refs or ()
        if each.kind == kind and each.group == group
    ]


def gateway_parents(route: HTTPRoute) -> Sequence[ParentReference]:
    """
    Return the parentRefs that name a Gateway. A mesh route has a Service as parent, for example.
    """
    return [each for each in route.spec.parent_refs or () if is_gateway_parent(each)]


def find_parts(snapshot: Snapshot, subject: Subject) -> Sequence[ObjectRef]:
    """
    Return the routes, pools and endpoint pickers of an InferenceSet, and what was deleted of them.

    A picker that was deleted with an earlier InferenceSet of that name is none of this one.
    """
    namespace, key = subject.namespace, inference_set_key(subject.namespace, subject.name)
    picker = snapshot.peek(
        DEPLOYMENTS, Deployment, namespace, f"{subject.name}{ENDPOINT_PICKER_SUFFIX}"
    )
    routes = find_routes(snapshot, subject)
    pools = find_pools(snapshot, subject, routes)
    labelled = snapshot.by_index(DEPLOYMENTS, Deployment, key)
    named = () if picker is None else (picker,)
    parts = ((HTTP_ROUTES, routes), (INFERENCE_POOLS, pools), (DEPLOYMENTS, (*labelled, *named)))
    return [
        *(kind.ref_to(each) for kind, objects in parts for each in objects),
        *(ref for pool in pools if (ref := picker_ref(pool)) is not None),
        *(snapshot.deleted_parts.get(key) or ()),
    ]


def find_deleted_parts(
    snapshot: Snapshot, subject: Subject, *kinds: ResourceKind
) -> tuple[ObjectRef, ...]:
    """
    Return what was deleted of these kinds while the InferenceSet lives, the last one at the end.
    """
    deleted = snapshot.deleted_parts.get(inference_set_key(subject.namespace, subject.name)) or ()
    resources = [kind.group_resource for kind in kinds]
    # A pool's endpoint picker, which its name alone tells, may have outlived it.
    return tuple(ref for ref in deleted if ref.resource in resources and snapshot.was_deleted(ref))
