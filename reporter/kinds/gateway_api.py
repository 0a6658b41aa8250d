"""The Gateway API: GatewayClasses, Gateways, HTTPRoutes, and the InferencePools of its extension."""

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar

from msgspec.structs import force_setattr

from reporter.kinds import objects
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.resource_kind import ResourceKind
from reporter.kinds.shared_values import register_cache
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef


class ParentReference(objects.InterningApiStruct, frozen=True):
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


@lru_cache(maxsize=1024)
def _shared_references(references: tuple[ParentReference, ...]) -> tuple[ParentReference, ...]:
    """Return the same tuple for equal ones: most routes of a namespace name one Gateway."""
    return references


register_cache(_shared_references.cache_clear)


class ParentStatus(objects.InterningApiStruct, frozen=True):
    """The conditions that one controller reports for one parent."""

    interned_fields: ClassVar[tuple[str, ...]] = ("controller_name",)

    parent_ref: ParentReference
    controller_name: str | None = ""
    conditions: tuple[objects.Condition, ...] | None = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        (shared,) = _shared_references((self.parent_ref,))
        force_setattr(self, "parent_ref", shared)


class ParentsStatus(objects.ApiStruct, frozen=True):
    """
    The status of an HTTPRoute or InferencePool: one entry for each pair of parent and controller.
    """

    parents: tuple[ParentStatus, ...] | None = ()


GATEWAY_API_GROUP = "gateway.networking.k8s.io"


class Listener(objects.ApiStruct, frozen=True):
    """A listener in the spec of a Gateway; its name is unique within the Gateway."""

    name: str


class GatewayAddress(objects.ApiStruct, frozen=True):
    """An address that is asked for; of interest is only that there is one."""


class GatewaySpec(objects.ApiStruct, frozen=True):
    """
    The spec of a Gateway.

    *addresses*: set by a user; Istio then creates no Deployment for the Gateway.
    """

    gateway_class_name: str = ""
    listeners: tuple[Listener, ...] | None = ()
    addresses: tuple[GatewayAddress, ...] | None = ()


class ListenerStatus(objects.ApiStruct, frozen=True):
    """The conditions of one listener; it may have been removed from the spec since."""

    name: str
    conditions: tuple[objects.Condition, ...] | None = ()


class GatewayStatus(objects.ApiStruct, frozen=True):
    """The status that the controller of the class writes."""

    conditions: tuple[objects.Condition, ...] | None = ()
    listeners: tuple[ListenerStatus, ...] | None = ()


class Gateway(objects.ApiObject, frozen=True):
    """A Gateway, through which the requests for the models of a namespace come in."""

    spec: GatewaySpec = GatewaySpec()
    status: GatewayStatus = GatewayStatus()


def gateway_affects(gateway: Gateway) -> tuple[Subject, ...]:
    """Return the harness and every model of the namespace: their routes attach to the Gateway."""
    return (objects.harness_of(gateway), objects.model_of(gateway, ""))


def _parent_key(gateway: Gateway) -> str:
    return objects.parent_gateway_key(gateway.metadata.namespace, gateway.metadata.name)


GATEWAYS = ResourceKind(
    resource="gateways",
    group=GATEWAY_API_GROUP,
    versions=("v1",),
    kind="Gateway",
    type=Gateway,
    index_keys=objects.namespace_keys,
    affects=gateway_affects,
    referrers=(("httproutes", _parent_key),),
)


class GatewayClassSpec(objects.ApiStruct, frozen=True):
    """The spec of a class. *controller_name*: the controller of all its Gateways."""

    controller_name: str = ""


class GatewayClassStatus(objects.ApiStruct, frozen=True):
    """The conditions of a class; Accepted tells if its controller supports it."""

    conditions: tuple[objects.Condition, ...] | None = ()


class GatewayClass(objects.ApiObject, frozen=True):
    """The class of Gateways that one controller serves; it has no namespace."""

    spec: GatewayClassSpec = GatewayClassSpec()
    status: GatewayClassStatus = GatewayClassStatus()


def gateway_class_affects(_: GatewayClass) -> tuple[Subject, ...]:
    """
    Return every harness and model: Gateways of any namespace may refer to a class.

    The status of a model's route counts if the controller of its Gateway's class wrote it.
    """
    return (objects.ALL_HARNESSES, objects.ALL_MODELS)


GATEWAY_CLASSES = ResourceKind(
    resource="gatewayclasses",
    group=GATEWAY_API_GROUP,
    versions=("v1",),
    kind="GatewayClass",
    type=GatewayClass,
    affects=gateway_class_affects,
)


class InferencePoolSelector(objects.ApiStruct, frozen=True):
    """The labels of the pods of a pool, all of which must match."""

    match_labels: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "match_labels", objects.pack_labels(self.match_labels))


class EndpointPickerReference(objects.InterningApiStruct, frozen=True):
    """
    The reference of a pool to its endpoint picker, in the namespace of the pool.

    The API's default *kind* is Service.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ("group", "kind")

    name: str
    group: str | None = None
    kind: str | None = None


class InferencePoolSpec(objects.ApiStruct, frozen=True):
    """
    The spec of a pool.

    *endpoint_picker_ref* is optional from v1.6 of the inference extension on.
    """

    selector: InferencePoolSelector = InferencePoolSelector()
    endpoint_picker_ref: EndpointPickerReference | None = None


class InferencePool(objects.ApiObject, frozen=True):
    """An InferencePool: the pods of a model, among which an endpoint picker chooses."""

    spec: InferencePoolSpec = InferencePoolSpec()
    status: ParentsStatus = ParentsStatus()


def pool_keys(pool: InferencePool) -> tuple[str, ...]:
    """Index a pool by its InferenceSet and its endpoint picker."""
    picker = pool.spec.endpoint_picker_ref
    named = (
        (objects.picker_key(pool.metadata.namespace, picker.name),) if picker is not None else ()
    )
    return (*objects.inference_set_keys(pool), *named)


def picker_ref(pool: InferencePool) -> ObjectRef | None:
    """
    Return the Deployment of a pool's endpoint picker; None if the pool names none.

    The chart gives the Deployment the name of its Service, to which the pool refers.
    """
    picker = pool.spec.endpoint_picker_ref
    if picker is None or not picker.name:
        return None
    return ObjectRef(DEPLOYMENTS.group_resource, pool.metadata.namespace, picker.name)


def pool_affects(pool: InferencePool) -> tuple[Subject, ...]:
    """Return the models that may look the pool up, by its labels or its name."""
    return objects.possible_models_of(pool, objects.POOL_SUFFIX)


def _backend_key(pool: InferencePool) -> str:
    return objects.backend_pool_key(pool.metadata.namespace, pool.metadata.name)


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


class BackendReference(objects.InterningApiStruct, frozen=True):
    """
    The backend of a rule.

    The API's defaults: a Service of the core group, in the namespace of the route.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ("group", "kind", "name")

    name: str
    group: str | None = None
    kind: str | None = None
    namespace: str | None = None


class HTTPRouteRule(objects.ApiStruct, frozen=True):
    """One rule of a route, of which only the backends are read."""

    backend_refs: tuple[BackendReference, ...] | None = ()


class HTTPRouteSpec(objects.ApiStruct, frozen=True):
    """The spec of a route. *parent_refs*: the Gateways that it attaches to."""

    parent_refs: tuple[ParentReference, ...] | None = ()
    rules: tuple[HTTPRouteRule, ...] | None = ()

    def __post_init__(self) -> None:
        if self.parent_refs:
            force_setattr(self, "parent_refs", _shared_references(self.parent_refs))


class HTTPRoute(objects.ApiObject, frozen=True):
    """A route from Gateways to the InferencePools of models."""

    spec: HTTPRouteSpec = HTTPRouteSpec()
    status: ParentsStatus = ParentsStatus()


def route_keys(route: HTTPRoute) -> tuple[str, ...]:
    """Index a route by namespace, InferenceSet, parents and the InferencePools of its rules."""
    namespace = route.metadata.namespace
    backends = {
        objects.backend_pool_key(backend.namespace or namespace, backend.name)
        for rule in route.spec.rules or ()
        for backend in rule.backend_refs or ()
        if backend.kind == INFERENCE_POOLS.kind
    }
    parents = {
        objects.parent_gateway_key(parent.namespace or namespace, parent.name)
        for parent in route.spec.parent_refs or ()
    }
    return (
        *objects.namespace_keys(route),
        *objects.inference_set_keys(route),
        *sorted(parents),
        *sorted(backends),
    )


def route_affects(route: HTTPRoute) -> tuple[Subject, ...]:
    """
    Return the harnesses and the models that a route may be part of.

    These are the harnesses of the route's namespace and of the namespaces of its Gateways, and the
    models that its labels, its name and its backends name.
    """
    gateways = {each.namespace for each in route.spec.parent_refs or () if each.namespace}
    elsewhere = gateways - {route.metadata.namespace}
    backends = [
        Subject(
            Layer.MODELDEPLOYMENT,
            backend.namespace or route.metadata.namespace,
            backend.name.removesuffix(objects.POOL_SUFFIX),
        )
        for rule in route.spec.rules or ()
        for backend in rule.backend_refs or ()
        if backend.name.endswith(objects.POOL_SUFFIX)
    ]
    return (
        objects.harness_of(route),
        *(Subject(Layer.MODELHARNESS, each) for each in sorted(elsewhere)),
        *objects.possible_models_of(route, objects.ROUTE_SUFFIX),
        *backends,
    )


HTTP_ROUTES = ResourceKind(
    resource="httproutes",
    group=GATEWAY_API_GROUP,
    versions=("v1",),
    kind="HTTPRoute",
    type=HTTPRoute,
    index_keys=route_keys,
    spec_key_prefixes=(
        lambda namespace: objects.backend_pool_key(namespace, ""),
        lambda namespace: objects.parent_gateway_key(namespace, ""),
    ),
    affects=route_affects,
)
