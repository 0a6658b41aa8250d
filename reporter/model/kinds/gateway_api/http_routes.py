"""HTTPRoutes."""

from typing import ClassVar

from reporter.model.enums import Layer
from reporter.model.kinds.base.api_struct import ApiStruct, InterningApiStruct
from reporter.model.kinds.base.keys import (
    backend_pool_key,
    inference_set_keys,
    namespace_keys,
    parent_gateway_key,
)
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import (
    POOL_SUFFIX,
    ROUTE_SUFFIX,
    harness_of,
    possible_models_of,
)
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.gateway_api.gateways import GATEWAY_API_GROUP
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS
from reporter.model.kinds.gateway_api.parents import ParentReference, ParentsStatus
from reporter.model.subjects import Subject


class BackendReference(InterningApiStruct, frozen=True):
    interned_fields: ClassVar[tuple[str, ...]] = ("group", "kind", "name")

    name: str
    group: str | None = None
    kind: str | None = None
    namespace: str | None = None
    port: int | None = None


class HTTPRouteRule(ApiStruct, frozen=True):
    backend_refs: tuple[BackendReference, ...] | None = ()


class HTTPRouteSpec(ApiStruct, frozen=True):
    parent_refs: tuple[ParentReference, ...] | None = ()
    rules: tuple[HTTPRouteRule, ...] | None = ()


class HTTPRoute(ApiObject, frozen=True):
    spec: HTTPRouteSpec = HTTPRouteSpec()
    status: ParentsStatus = ParentsStatus()


def index_keys(route: HTTPRoute) -> tuple[str, ...]:
    """Index a route by namespace, InferenceSet, parents and the InferencePools of its rules."""
    namespace = route.metadata.namespace
    backends = {
        backend_pool_key(backend.namespace or namespace, backend.name)
        for rule in route.spec.rules or ()
        for backend in rule.backend_refs or ()
        if backend.kind == INFERENCE_POOLS.kind
    }
    parents = {
        parent_gateway_key(parent.namespace or namespace, parent.name)
        for parent in route.spec.parent_refs or ()
    }
    return (
        *namespace_keys(route),
        *inference_set_keys(route),
        *sorted(parents),
        *sorted(backends),
    )


def affects(route: HTTPRoute) -> tuple[Subject, ...]:
    """
    Return the harness of the namespace, and the models of the route's labels, name and backends.
    """
    backends = [
        Subject(
            Layer.MODELDEPLOYMENT,
            backend.namespace or route.metadata.namespace,
            backend.name.removesuffix(POOL_SUFFIX),
        )
        for rule in route.spec.rules or ()
        for backend in rule.backend_refs or ()
        if backend.name.endswith(POOL_SUFFIX)
    ]
    return (harness_of(route), *possible_models_of(route, ROUTE_SUFFIX), *backends)


HTTP_ROUTES = ResourceKind(
    resource="httproutes",
    group=GATEWAY_API_GROUP,
    versions=("v1",),
    kind="HTTPRoute",
    type=HTTPRoute,
    index_keys=index_keys,
    spec_key_prefixes=(lambda namespace: backend_pool_key(namespace, ""),),
    affects=affects,
)
