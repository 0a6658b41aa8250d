"""The Gateway API: GatewayClasses, Gateways, HTTPRoutes, and the InferencePools of its extension."""

from typing import ClassVar

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.objects import (
    ALL_HARNESSES,
    ALL_MODELS,
    POOL_SUFFIX,
    ROUTE_SUFFIX,
    ApiObject,
    ApiStruct,
    Condition,
    InterningApiStruct,
    backend_pool_key,
    harness_of,
    inference_set_keys,
    model_of,
    namespace_keys,
    no_index_keys,
    parent_gateway_key,
    picker_key,
    possible_models_of,
)
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef


class ParentReference(InterningApiStruct, frozen=True):
    """
    A reference to a parent. The API's defaults: a Gateway, in the namespace of the referring object.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ("group", "kind", "namespace", "name")

    name: str
    group: str | None = None
    kind: str | None = None
    namespace: str | None = None
    section_name: str | None = None
    port: int | None = None


class ParentStatus(InterningApiStruct, frozen=True):
    """The conditions that one controller reports for one parent."""

    interned_fields: ClassVar[tuple[str, ...]] = ("controller_name",)

    parent_ref: ParentReference
    controller_name: str | None = ""
    conditions: tuple[Condition, ...] | None = ()


class ParentsStatus(ApiStruct, frozen=True):
    parents: tuple[ParentStatus, ...] | None = ()


GATEWAY_API_GROUP = "gateway.networking.k8s.io"


class Listener(ApiStruct, frozen=True):
    name: str
    port: int = 0
    protocol: str | None = ""


class GatewayAddress(ApiStruct, frozen=True):
    type: str | None = ""
    value: str | None = ""


class GatewaySpec(ApiStruct, frozen=True):
    """*addresses*: set by a user; Istio then creates no Deployment for the Gateway."""

    gateway_class_name: str = ""
    listeners: tuple[Listener, ...] | None = ()
    addresses: tuple[GatewayAddress, ...] | None = ()


class ListenerStatus(ApiStruct, frozen=True):
    name: str
    conditions: tuple[Condition, ...] | None = ()


class GatewayStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = ()
    listeners: tuple[ListenerStatus, ...] | None = ()
    addresses: tuple[GatewayAddress, ...] | None = ()


class Gateway(ApiObject, frozen=True):
    spec: GatewaySpec = GatewaySpec()
    status: GatewayStatus = GatewayStatus()


def gateway_affects(gateway: Gateway) -> tuple[Subject, ...]:
    """Return the harness and every model of the namespace: their routes attach to the Gateway."""
    return (harness_of(gateway), model_of(gateway, ""))


def _parent_key(gateway: Gateway) -> str:
    return parent_gateway_key(gateway.metadata.namespace, gateway.metadata.name)


GATEWAYS = ResourceKind(
    resource="gateways",
    group=GATEWAY_API_GROUP,
    versions=("v1",),
    kind="Gateway",
    type=Gateway,
    index_keys=namespace_keys,
    affects=gateway_affects,
    referrers=(("httproutes", _parent_key),),
)


class GatewayClassSpec(ApiStruct, frozen=True):
    controller_name: str = ""


class GatewayClassStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class GatewayClass(ApiObject, frozen=True):
    spec: GatewayClassSpec = GatewayClassSpec()
    status: GatewayClassStatus = GatewayClassStatus()


def gateway_class_affects(_: GatewayClass) -> tuple[Subject, ...]:
    """
    Return every harness and model: Gateways of any namespace may refer to a class.

    The status of a model's route counts if the controller of its Gateway's class wrote it.
    """
    return (ALL_HARNESSES, ALL_MODELS)


GATEWAY_CLASSES = ResourceKind(
    resource="gatewayclasses",
    group=GATEWAY_API_GROUP,
    versions=("v1",),
    kind="GatewayClass",
    type=GatewayClass,
    index_keys=no_index_keys,
    affects=gateway_class_affects,
)


class InferencePoolSelector(InterningApiStruct, frozen=True):
    interned_fields: ClassVar[tuple[str, ...]] = ("match_labels",)

    match_labels: dict[str, str] | None = None


class EndpointPickerPort(ApiStruct, frozen=True):
    number: int = 0


class EndpointPickerReference(ApiStruct, frozen=True):
    name: str
    group: str | None = None
    kind: str | None = None
    port: EndpointPickerPort | None = None


class InferencePoolSpec(ApiStruct, frozen=True):
    """*endpoint_picker_ref* is optional from v1.6 of the inference extension on."""

    selector: InferencePoolSelector = InferencePoolSelector()
    endpoint_picker_ref: EndpointPickerReference | None = None


class InferencePool(ApiObject, frozen=True):
    spec: InferencePoolSpec = InferencePoolSpec()
    status: ParentsStatus = ParentsStatus()


def pool_keys(pool: InferencePool) -> tuple[str, ...]:
    """Index a pool by its InferenceSet and its endpoint picker."""
    picker = pool.spec.endpoint_picker_ref
    named = (picker_key(pool.metadata.namespace, picker.name),) if picker is not None else ()
    return (*inference_set_keys(pool), *named)


def picker_ref(pool: InferencePool) -> ObjectRef | None:
    """
    Return the Deployment of a pool's endpoint picker: the chart gives it the name of its Service.
    """
    picker = pool.spec.endpoint_picker_ref
    if picker is None or not picker.name:
        return None
    return ObjectRef(DEPLOYMENTS.group_resource, pool.metadata.namespace, picker.name)


def pool_affects(pool: InferencePool) -> tuple[Subject, ...]:
    return possible_models_of(pool, POOL_SUFFIX)


def _backend_key(pool: InferencePool) -> str:
    return backend_pool_key(pool.metadata.namespace, pool.metadata.name)


INFERENCE_POOLS = ResourceKind(
    resource="inferencepools",
    group="inference.networking.k8s.io",
    versions=("v1",),
    kind="InferencePool",
    type=InferencePool,
    index_keys=pool_keys,
    affects=pool_affects,
    referrers=(("httproutes", _backend_key),),
)


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


def route_keys(route: HTTPRoute) -> tuple[str, ...]:
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


def route_affects(route: HTTPRoute) -> tuple[Subject, ...]:
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
    index_keys=route_keys,
    spec_key_prefixes=(lambda namespace: backend_pool_key(namespace, ""),),
    affects=route_affects,
)
