"""
The routes and InferencePools of an InferenceSet, and what controllers say of them.

Found by label, by the modeldeployment chart's naming, and by following a route to its pool, which
survives renamed charts.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from reporter.model.gateway_objects import (
    BackendReference,
    Gateway,
    GatewayClass,
    HTTPRoute,
    InferencePool,
    ParentReference,
    ParentsStatus,
    ParentStatus,
)
from reporter.model.kinds import GATEWAY_CLASSES, GATEWAYS, HTTP_ROUTES, INFERENCE_POOLS
from reporter.model.objects import ApiObject
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.stages.gateways import is_gateway
from reporter.stages.indexes import by_backend, by_model
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import POOL_SUFFIX


ROUTE_SUFFIX = "-route"
ISTIO = "istio.io/gateway-controller"

T = TypeVar("T", bound=ApiObject)


def routes(snapshot: Snapshot, subject: Subject) -> tuple[HTTPRoute, ...]:
    """
    Those on their way out too.
    """
    namespace, name = subject.namespace, subject.name
    usual = snapshot.get(HTTP_ROUTES, HTTPRoute, namespace, f"{name}{ROUTE_SUFFIX}")
    pool = by_backend(namespace, f"{name}{POOL_SUFFIX}")
    return _unique(
        (
            *snapshot.find(HTTP_ROUTES, HTTPRoute, by_model(namespace, name)),
            *snapshot.find(HTTP_ROUTES, HTTPRoute, pool),
            *((usual,) if usual is not None else ()),
        )
    )


def pools(snapshot: Snapshot, subject: Subject) -> tuple[InferencePool, ...]:
    """
    Those on their way out too.
    """
    namespace, name = subject.namespace, subject.name
    usual = snapshot.get(INFERENCE_POOLS, InferencePool, namespace, f"{name}{POOL_SUFFIX}")
    led_to = (
        snapshot.get(INFERENCE_POOLS, InferencePool, ref.namespace, ref.name)
        for route in routes(snapshot, subject)
        for ref in pools_of(route)
    )
    return _unique(
        (
            *snapshot.find(INFERENCE_POOLS, InferencePool, by_model(namespace, name)),
            *(each for each in (usual, *led_to) if each is not None),
        )
    )


def _unique(found: Iterable[T]) -> tuple[T, ...]:
    named = {(each.metadata.namespace, each.metadata.name): each for each in found}
    return tuple(named[name] for name in sorted(named))


def staying(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(each for each in found if each.metadata.deletion_timestamp is None)


def backends(route: HTTPRoute) -> Iterator[BackendReference]:
    for rule in route.spec.rules or ():
        yield from rule.backend_refs or ()


def pools_of(route: HTTPRoute) -> tuple[ObjectRef, ...]:
    """
    The InferencePools that it leads to, whether they exist or not.
    """
    found = {
        ObjectRef(INFERENCE_POOLS.qualified, each.namespace or route.metadata.namespace, each.name)
        for each in backends(route)
        if (each.kind, each.group) == (INFERENCE_POOLS.kind, INFERENCE_POOLS.group)
    }
    return tuple(sorted(found))


def parents(route: HTTPRoute) -> tuple[ParentReference, ...]:
    """
    Its Gateways; a Service as parent is none of ours.
    """
    return tuple(each for each in route.spec.parent_refs or () if is_gateway(each))


def gateway_of(parent: ParentReference, namespace: str) -> ObjectRef:
    return ObjectRef(GATEWAYS.qualified, parent.namespace or namespace, parent.name)


def about(status: ParentsStatus, wanted: ParentReference, namespace: str) -> list[ParentStatus]:
    """
    What was written about one parent, by whomever; the placeholder of a fresh pool is of no Gateway.
    """
    return [
        each
        for each in status.parents or ()
        if is_gateway(each.parent_ref)
        and _same(each.parent_ref, namespace) == _same(wanted, namespace)
    ]


def _same(parent: ParentReference, namespace: str) -> tuple[ObjectRef, str | None, int | None]:
    return gateway_of(parent, namespace), parent.section_name, parent.port


def controller(snapshot: Snapshot, gateway: Gateway) -> str:
    """
    Who writes about this Gateway; empty if its class has no object that tells.
    """
    name = gateway.spec.gateway_class_name
    found = snapshot.get(GATEWAY_CLASSES, GatewayClass, "", name)
    return found.spec.controller_name if found is not None else ""


def ours(entries: Sequence[ParentStatus], writer: str) -> ParentStatus | None:
    """
    Of all that was written about one Gateway, what its controller wrote; others may have left theirs.

    Istio names itself on routes and not on InferencePools. *writer* is empty if it is not known.
    """
    named = {each.controller_name or "": each for each in reversed(entries)}
    for name in (writer or ISTIO, ""):
        if name in named:
            return named[name]
    return entries[0] if entries and not writer else None
