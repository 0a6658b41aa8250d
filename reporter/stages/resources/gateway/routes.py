"""
The routes and InferencePools of an InferenceSet.

Both are found by label, by the modeldeployment chart's names, and by following a route's backendRefs,
which also works where a chart names its objects differently.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from reporter.model.kinds.base.keys import backend_pool_key, inference_set_key
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import (
    ENDPOINT_PICKER_SUFFIX,
    POOL_SUFFIX,
    ROUTE_SUFFIX,
)
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES, BackendReference, HTTPRoute
from reporter.model.kinds.gateway_api.inference_pools import (
    INFERENCE_POOLS,
    InferencePool,
    picker_ref,
)
from reporter.model.kinds.gateway_api.parents import ParentReference
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.stages.resources.gateway.gateways import is_gateway_parent
from reporter.stages.snapshot.snapshot import Snapshot


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
        *(
            ObjectRef(kind.group_resource, each.metadata.namespace, each.metadata.name)
            for kind, objects in parts
            for each in objects
        ),
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
