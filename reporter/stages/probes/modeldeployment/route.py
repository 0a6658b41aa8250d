"""
Whether requests find their way from the Gateway to the model pods: route, Gateway, pool, selector.

Statuses are frozen while their writer is down, and old entries stay. So what a route refers to is
looked up first, and a status is believed only from the Gateway's own controller about a Gateway that
exists.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.keys import inference_set_key
from reporter.model.kinds.base.ownership import ENDPOINT_PICKER_SUFFIX
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.kinds.gateway_api.gateway_classes import GATEWAY_CLASSES
from reporter.model.kinds.gateway_api.gateways import GATEWAYS, Gateway
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES, BackendReference, HTTPRoute
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS, InferencePool
from reporter.model.kinds.gateway_api.parents import ParentReference
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.stages.probes.probe import NoParameters, Probe, ProbeRequest
from reporter.stages.resources.check_result import CheckResult, check_decoded, to_verdict
from reporter.stages.resources.gateway.route_status import (
    evaluate_pool_status,
    evaluate_route_status,
    routing_trouble,
)
from reporter.stages.resources.gateway.routes import (
    ROUTE_SUFFIX,
    exclude_deleting,
    find_parent_statuses,
    find_pools,
    find_routes,
    gateway_controller_name,
    gateway_parents,
    pool_backends,
    select_parent_status,
)
from reporter.stages.resources.kaito.inference_sets import (
    check_all_decoded,
    find_model_pods,
    get_inference_set,
    is_leader_pod,
    without_leftover_pods,
)
from reporter.stages.snapshot.snapshot import Snapshot


ParentControllers: TypeAlias = Sequence[tuple[ParentReference, str]]
"""
What a route refers to, each with who writes about it.
"""


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    yield to_verdict(snapshot, question.key(), _find_troubles(snapshot, question.subject))


def _find_troubles(snapshot: Snapshot, subject: Subject) -> Sequence[CheckResult | None]:
    if get_inference_set(snapshot, subject) is None:
        return []
    every = find_routes(snapshot, subject)
    behind = find_pools(snapshot, subject, every)
    late = check_all_decoded(snapshot, HTTP_ROUTES, subject, every)
    late = late or check_all_decoded(snapshot, INFERENCE_POOLS, subject, behind)
    if late:
        return [late]
    if not every:
        return [_missing_route_trouble(snapshot, subject, exclude_deleting(behind))]
    here = [(route, _parent_controllers(snapshot, route)) for route in exclude_deleting(every)]
    found = [found for each in here if (found := _evaluate_route(snapshot, *each)) is not None]
    if found or not here:
        return found
    pods = without_leftover_pods(find_model_pods(snapshot, subject))
    return [_evaluate_pool(pool, here, pods) for pool in exclude_deleting(behind)]


def _missing_route_trouble(
    snapshot: Snapshot, subject: Subject, behind: Sequence[InferencePool]
) -> Trouble | None:
    """
    A set with neither pool nor endpoint picker was deployed to be reached otherwise.
    """
    labelled = snapshot.by_index(
        DEPLOYMENTS, Deployment, inference_set_key(subject.namespace, subject.name)
    )
    name = f"{subject.name}{ENDPOINT_PICKER_SUFFIX}"
    picker = snapshot.get(DEPLOYMENTS, Deployment, subject.namespace, name)
    if not behind and not exclude_deleting(
        (*labelled, *((picker,) if picker is not None else ()))
    ):
        return None
    route = ObjectRef(
        HTTP_ROUTES.group_resource, subject.namespace, f"{subject.name}{ROUTE_SUFFIX}"
    )
    seen = route in snapshot.deleted_uids
    return Trouble(
        cause=Cause(route, "RouteNotFound"),
        kind=TroubleKind.LOST if seen else TroubleKind.DECLARED,
        is_out=True,
        message_fields={"object": f"HTTPRoute {route.name}", "state": _absence_text(seen=seen)},
    )


def _absence_text(*, seen: bool) -> str:
    return "was deleted" if seen else "does not exist"


# ---------------------------------------------------------------- one route


def _parent_controllers(snapshot: Snapshot, route: HTTPRoute) -> ParentControllers:
    """
    One on its way out accepts nothing any more, and its entries stay as they were.
    """
    found = []
    for parent in gateway_parents(route):
        namespace = parent.namespace or route.metadata.namespace
        gateway = snapshot.get(GATEWAYS, Gateway, namespace, parent.name)
        if gateway is not None and gateway.metadata.deletion_timestamp is None:
            found.append((parent, gateway_controller_name(snapshot, gateway)))
    return found


def _evaluate_route(
    snapshot: Snapshot, route: HTTPRoute, gateways: ParentControllers
) -> CheckResult | None:
    if not route.spec.parent_refs:
        return routing_trouble(
            HTTP_ROUTES, route, "GatewayNotFound", TroubleKind.DECLARED, "names no Gateway"
        )
    for parent in gateway_parents(route):
        found = _missing_reference_trouble(snapshot, route, GATEWAYS, parent)
        if found is not None:
            return found
    for backend in pool_backends(route):
        found = _missing_reference_trouble(snapshot, route, INFERENCE_POOLS, backend)
        if found is not None:
            return found
    for parent, writer in gateways:
        entries = find_parent_statuses(route.status, parent, route.metadata.namespace)
        found = evaluate_route_status(route, select_parent_status(entries, writer), parent.name)
        if found is not None:
            return found
    return None


def _missing_reference_trouble(
    snapshot: Snapshot,
    route: HTTPRoute,
    kind: ResourceKind,
    wanted: ParentReference | BackendReference,
) -> CheckResult | None:
    """
    A reference to what is not there is trouble as young as the absence.
    """
    namespace = wanted.namespace or route.metadata.namespace
    late = check_decoded(snapshot, kind, namespace, wanted.name)
    if late or snapshot.get(kind, kind.type, namespace, wanted.name) is not None:
        return late
    seen = ObjectRef(kind.group_resource, namespace, wanted.name) in snapshot.deleted_uids
    here = namespace == route.metadata.namespace
    name = wanted.name if here else f"{namespace}/{wanted.name}"
    what = "parent" if kind is GATEWAYS else "backend"
    state = f"{what} {kind.kind} {name} {_absence_text(seen=seen)}"
    code = "GatewayNotFound" if kind is GATEWAYS else "PoolNotFound"
    lost = TroubleKind.LOST if seen else TroubleKind.DECLARED
    return replace(routing_trouble(HTTP_ROUTES, route, code, lost, state), object_created_at=None)


# ---------------------------------------------------------------- one pool


def _evaluate_pool(
    pool: InferencePool, here: Iterable[tuple[HTTPRoute, ParentControllers]], pods: Sequence[Pod]
) -> CheckResult | None:
    for route, gateways in here:
        for parent, writer in gateways:
            namespace = parent.namespace or route.metadata.namespace
            wanted = ParentReference(name=parent.name, namespace=namespace)
            entries = find_parent_statuses(pool.status, wanted, pool.metadata.namespace)
            found = evaluate_pool_status(pool, select_parent_status(entries, writer), parent.name)
            if found is not None:
                return found
    return _selector_trouble(pool, pods)


def _selector_trouble(pool: InferencePool, pods: Sequence[Pod]) -> Trouble | None:
    """
    No writer tells that a selector matches nothing.
    """
    wanted = (pool.spec.selector.match_labels or {}).items()
    running = sum(pod.status.phase == "Running" and is_leader_pod(pod) for pod in pods)
    if not running or any(wanted <= (pod.metadata.labels or {}).items() for pod in pods):
        return None
    models = "1 model pod is" if running == 1 else f"{running} model pods are"
    state = f"selector matches no pod while {models} running"
    return routing_trouble(INFERENCE_POOLS, pool, "SelectsNothing", TroubleKind.FAILED, state)


PROBE = Probe(
    ProbeSpec(
        name="route",
        parameters_type=NoParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset(
            {
                "RouteNotFound",
                "GatewayNotFound",
                "NotAccepted",
                "NotResolved",
                "PoolNotFound",
                "PoolNotAccepted",
                "SelectsNothing",
                "PickerNotFound",
                "Unseen",
            }
        ),
        required_kinds=(INFERENCE_SETS, HTTP_ROUTES, INFERENCE_POOLS, GATEWAYS, PODS),
        optional_kinds=(GATEWAY_CLASSES, DEPLOYMENTS, NAMESPACES),
        required_crds=lambda _: frozenset(
            {
                INFERENCE_SETS.group_resource,
                HTTP_ROUTES.group_resource,
                INFERENCE_POOLS.group_resource,
                GATEWAYS.group_resource,
            }
        ),
    ),
    evaluate,
)
