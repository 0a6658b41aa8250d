"""
The routes and InferencePools of an InferenceSet, and what controllers say of them.

Found by label, by the modeldeployment chart's naming, and by following a route to its pool, which
survives renamed charts.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from reporter.model.kinds.base.keys import backend_pool_key, inference_set_key
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import POOL_SUFFIX
from reporter.model.kinds.gateway_api.gateway_classes import GATEWAY_CLASSES, GatewayClass
from reporter.model.kinds.gateway_api.gateways import Gateway
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES, BackendReference, HTTPRoute
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS, InferencePool
from reporter.model.kinds.gateway_api.parents import ParentReference, ParentsStatus, ParentStatus
from reporter.model.subjects import Subject
from reporter.stages.resources.gateway.gateways import is_gateway_parent
from reporter.stages.snapshot.snapshot import Snapshot


ROUTE_SUFFIX = "-route"
ISTIO_CONTROLLER = "istio.io/gateway-controller"

T = TypeVar("T", bound=ApiObject)


def find_routes(snapshot: Snapshot, subject: Subject) -> tuple[HTTPRoute, ...]:
    """
    Those on their way out too.
    """
    namespace, name = subject.namespace, subject.name
    usual = snapshot.get(HTTP_ROUTES, HTTPRoute, namespace, f"{name}{ROUTE_SUFFIX}")
    return _unique(
        (
            *snapshot.by_index(HTTP_ROUTES, HTTPRoute, inference_set_key(namespace, name)),
            *snapshot.by_index(
                HTTP_ROUTES, HTTPRoute, backend_pool_key(namespace, f"{name}{POOL_SUFFIX}")
            ),
            *((usual,) if usual is not None else ()),
        )
    )


def find_pools(
    snapshot: Snapshot, subject: Subject, led_by: Iterable[HTTPRoute]
) -> tuple[InferencePool, ...]:
    """
    Those on their way out too; *led_by*: the routes to follow.
    """
    namespace, name = subject.namespace, subject.name
    usual = snapshot.get(INFERENCE_POOLS, InferencePool, namespace, f"{name}{POOL_SUFFIX}")
    behind = (
        snapshot.get(INFERENCE_POOLS, InferencePool, each.namespace or namespace, each.name)
        for route in led_by
        for each in pool_backends(route)
    )
    return _unique(
        (
            *snapshot.by_index(INFERENCE_POOLS, InferencePool, inference_set_key(namespace, name)),
            *(each for each in (usual, *behind) if each is not None),
        )
    )


def _unique(found: tuple[T, ...]) -> tuple[T, ...]:
    if all(each is found[0] for each in found):
        return found[:1]
    named = {(each.metadata.namespace, each.metadata.name): each for each in found}
    return tuple(named[name] for name in sorted(named))


def exclude_deleting(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(each for each in found if each.metadata.deletion_timestamp is None)


def pool_backends(route: HTTPRoute) -> Iterator[BackendReference]:
    """
    The InferencePools that it leads to, whether they exist or not.
    """
    for rule in route.spec.rules or ():
        for each in rule.backend_refs or ():
            if each.kind == INFERENCE_POOLS.kind and each.group == INFERENCE_POOLS.group:
                yield each


def gateway_parents(route: HTTPRoute) -> tuple[ParentReference, ...]:
    """
    Its Gateways; a Service as parent is none of ours.
    """
    return tuple(each for each in route.spec.parent_refs or () if is_gateway_parent(each))


def find_parent_statuses(
    status: ParentsStatus, wanted: ParentReference, namespace: str
) -> list[ParentStatus]:
    """
    What was written about one parent, by whomever; the placeholder of a fresh pool is of no Gateway.
    """
    return [
        each
        for each in status.parents or ()
        if _is_same_parent(each.parent_ref, wanted, namespace)
        and is_gateway_parent(each.parent_ref)
    ]


def _is_same_parent(one: ParentReference, other: ParentReference, namespace: str) -> bool:
    return (
        one.name == other.name
        and (one.namespace or namespace) == (other.namespace or namespace)
        and one.section_name == other.section_name
        and one.port == other.port
    )


def gateway_controller_name(snapshot: Snapshot, gateway: Gateway) -> str:
    """
    Who writes about this Gateway; empty if its class has no object that tells.
    """
    name = gateway.spec.gateway_class_name
    found = snapshot.get(GATEWAY_CLASSES, GatewayClass, "", name)
    return found.spec.controller_name if found is not None else ""


def select_parent_status(entries: Sequence[ParentStatus], writer: str) -> ParentStatus | None:
    """
    Of all that was written about one Gateway, what its controller wrote; others may have left theirs.

    Istio names itself on routes and not on InferencePools. *writer* is empty if it is not known.
    """
    named = {each.controller_name or "": each for each in reversed(entries)}
    for name in (writer or ISTIO_CONTROLLER, ""):
        if name in named:
            return named[name]
    return entries[0] if entries and not writer else None
