"""
Probe for a route from the Gateway to the model pods that is interrupted: route, Gateway, pool, selector.

A status is frozen while its controller is down, and entries about deleted Gateways stay: Istio leaves
Accepted=True on an InferencePool. So the references of a route are checked first, and a status counts
only if the Gateway exists and its own controller wrote it.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.core import NAMESPACES, PODS, SERVICES
from reporter.kinds.gateway_api import (
    GATEWAY_CLASSES,
    GATEWAYS,
    HTTP_ROUTES,
    INFERENCE_POOLS,
    BackendReference,
    HTTPRoute,
    InferencePool,
    ParentReference,
)
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES
from reporter.kinds.objects import ENDPOINT_PICKER_SUFFIX, ROUTE_SUFFIX, inference_set_key
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import SuppressionMode, TroubleKind
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import check_result
from reporter.resources.check_result import CheckResult, Inconclusive
from reporter.resources.conditions import Absence, absence_of, exclude_deleting, object_trouble
from reporter.resources.inference_sets import find_model_pods, get_inference_set, is_of_chart
from reporter.resources.parents import (
    ParentControllers,
    find_parent_controllers,
    find_parent_statuses,
    select_parent_status,
)
from reporter.resources.pools import evaluate_pool
from reporter.resources.routes import (
    PICKER_INVALID,
    PICKER_NOT_FOUND,
    evaluate_route_status,
    find_deleted_parts,
    find_pools,
    find_routes,
    gateway_parents,
    pool_backends,
)
from reporter.snapshot.snapshot import Snapshot


SUPPRESSION_FLAG = "suppression"


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Sequence[CheckResult | None]:
    """Check the routes of an InferenceSet and, if they are all well, the pools behind them."""
    subject = request.subject
    if get_inference_set(snapshot, subject) is None:
        return []
    all_routes = find_routes(snapshot, subject)
    pools = find_pools(snapshot, subject, all_routes)
    if not all_routes:
        return [_missing_route_trouble(snapshot, request, exclude_deleting(pools))]
    routes = [
        (route, find_parent_controllers(snapshot, route)) for route in exclude_deleting(all_routes)
    ]
    pools = exclude_deleting(pools)
    results = [_evaluate_route(snapshot, route, parents) for route, parents in routes]
    if any(isinstance(each, Trouble) for each in results) or not routes:
        return _limit_to_objects(results, routes, pools)
    pods = find_model_pods(snapshot, subject)
    results += [evaluate_pool(snapshot, pool, routes, pods) for pool in pools]
    return _limit_to_objects(results, routes, pools)


def _limit_to_objects(
    results: Sequence[CheckResult | None],
    routes: Sequence[tuple[HTTPRoute, ParentControllers]],
    pools: Sequence[InferencePool],
) -> Sequence[CheckResult | None]:
    """
    Return the results of the routes, then of the pools, with the objects that they leave open.
    """
    if not any(isinstance(each, Inconclusive) for each in results):
        return results
    pool_refs = [INFERENCE_POOLS.ref_to(pool) for pool in pools]
    # Pools are not checked behind a route with trouble, so nothing is known to be over for them.
    refs = [
        *([HTTP_ROUTES.ref_to(route), *pool_refs] for route, _ in routes),
        *([ref] for ref in pool_refs),
    ]
    return [
        check_result.limit_to(result, *objects)
        for result, objects in zip(results, refs, strict=False)
    ]


def _missing_route_trouble(
    snapshot: Snapshot, request: ProbeRequest, pools: Sequence[InferencePool]
) -> Trouble | None:
    """
    Return the trouble of a missing route.

    An InferenceSet that never had any of these objects may be reached in another way. Its status says
    so; where nothing is suppressed, as in the earlier reporter, it is trouble.
    """
    subject = request.subject
    deleted = find_deleted_parts(snapshot, subject, HTTP_ROUTES, INFERENCE_POOLS, DEPLOYMENTS)
    is_expected = (
        pools
        or deleted
        or request.flags.get(SUPPRESSION_FLAG) == SuppressionMode.OFF
        or _has_endpoint_picker(snapshot, subject)
        or is_of_chart(snapshot, subject)
    )
    if not is_expected:
        return None
    name = f"{subject.name}{ROUTE_SUFFIX}"
    route = HTTP_ROUTES.ref(subject.namespace, name)
    routes = [ref for ref in deleted if ref.resource == route.resource]
    if routes and route not in routes:
        route = routes[-1]
    absence = Absence(was_deleted=route in routes)
    return Trouble(
        cause=Cause(route, "Deleted" if absence.was_deleted else "RouteNotFound"),
        kind=absence.trouble_kind,
        is_out=True,
        message_fields={"object": f"HTTPRoute {route.name}", "state": absence.describe()},
    )


def _has_endpoint_picker(snapshot: Snapshot, subject: Subject) -> bool:
    by_label = snapshot.by_index(
        DEPLOYMENTS, Deployment, inference_set_key(subject.namespace, subject.name)
    )
    name = f"{subject.name}{ENDPOINT_PICKER_SUFFIX}"
    by_name = snapshot.get(DEPLOYMENTS, Deployment, subject.namespace, name)
    return bool(exclude_deleting((*by_label, *((by_name,) if by_name is not None else ()))))


# ---------------------------------------------------------------- one route


def _evaluate_route(
    snapshot: Snapshot, route: HTTPRoute, parents: ParentControllers
) -> CheckResult | None:
    """
    Return the first trouble of a route: its references, then what the Gateways' controllers report.
    """
    if not route.spec.parent_refs:
        return object_trouble(
            HTTP_ROUTES, route, "GatewayNotFound", TroubleKind.DECLARED, "names no Gateway"
        )
    broken = check_result.first_trouble(*_check_references(snapshot, route, parents))
    if isinstance(broken, Trouble):
        return broken
    results: list[CheckResult | None] = [broken]
    for parent, controller_name in parents:
        namespace = route.metadata.namespace
        gateway = (parent.namespace or namespace, parent.name)
        listener = (parent.section_name, parent.port)
        entries = find_parent_statuses(route.status, namespace, gateway, listener)
        entry = select_parent_status(entries, controller_name)
        results.append(evaluate_route_status(route, entry, parent.name))
    return check_result.first_trouble(*results)


def _check_references(
    snapshot: Snapshot, route: HTTPRoute, parents: ParentControllers
) -> list[CheckResult | None]:
    """Check that the Gateways and pools that a route refers to exist."""
    gateways = gateway_parents(route)
    if len(parents) == len(gateways) and not snapshot.undecodable:
        # All were found before, with their controllers.
        gateways = ()
    return [
        *[_check_reference(snapshot, route, GATEWAYS, each) for each in gateways],
        *[_check_reference(snapshot, route, INFERENCE_POOLS, e) for e in pool_backends(route)],
    ]


def _check_reference(
    snapshot: Snapshot,
    route: HTTPRoute,
    kind: ResourceKind,
    reference: ParentReference | BackendReference,
) -> CheckResult | None:
    """Check that a Gateway or a pool that a route refers to exists."""
    namespace = reference.namespace or route.metadata.namespace
    undecodable = check_result.check_decoded(snapshot, kind, namespace, reference.name)
    if undecodable or snapshot.get(kind, kind.type, namespace, reference.name) is not None:
        return undecodable
    missing = kind.ref(namespace, reference.name)
    absence = absence_of(snapshot, missing)
    is_local = namespace == route.metadata.namespace
    name = reference.name if is_local else f"{namespace}/{reference.name}"
    role = "parent" if kind is GATEWAYS else "backend"
    code = "GatewayNotFound" if kind is GATEWAYS else "PoolNotFound"
    state = f"{role} {kind.kind} {name} {absence.describe()}"
    trouble = object_trouble(HTTP_ROUTES, route, code, absence.trouble_kind, state)
    # The startup grace counts from when the object went missing, not from the route's creation.
    return replace(trouble, object_created_at=None, missing=missing)


PROBE = Probe(
    ProbeSpec(
        name="route",
        parameters_type=ProbeParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset(
            {
                "RouteNotFound",
                "Deleted",
                "GatewayNotFound",
                "NotAccepted",
                "NotResolved",
                "PoolNotFound",
                "PoolNotAccepted",
                "SelectsNothing",
                PICKER_NOT_FOUND,
                PICKER_INVALID,
                "Unseen",
            }
        ),
        required_kinds=(INFERENCE_SETS, HTTP_ROUTES, INFERENCE_POOLS, GATEWAYS, PODS),
        consulted_kinds=(DEPLOYMENTS, SERVICES, WORKSPACES),
        optional_kinds=(GATEWAY_CLASSES, NAMESPACES),
        required_crds=crds_of(INFERENCE_SETS, HTTP_ROUTES, INFERENCE_POOLS, GATEWAYS),
    ),
    evaluate,
)
