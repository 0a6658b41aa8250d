"""
Partial objects of Gateway API and its inference extension.
"""

from typing import ClassVar

from reporter.model.objects import ApiObject, Condition, Part


class Listener(Part, frozen=True):
    name: str
    port: int = 0
    protocol: str | None = ""


class GatewayAddress(Part, frozen=True):
    type: str | None = ""
    value: str | None = ""


class GatewaySpec(Part, frozen=True):
    """
    *addresses*: given by hand, so that no Deployment is made for the Gateway (Istio).
    """

    gateway_class_name: str = ""
    listeners: tuple[Listener, ...] | None = ()
    addresses: tuple[GatewayAddress, ...] | None = ()


class ListenerStatus(Part, frozen=True):
    name: str
    conditions: tuple[Condition, ...] | None = ()


class GatewayStatus(Part, frozen=True):
    conditions: tuple[Condition, ...] | None = ()
    listeners: tuple[ListenerStatus, ...] | None = ()
    addresses: tuple[GatewayAddress, ...] | None = ()


class Gateway(ApiObject, frozen=True):
    spec: GatewaySpec = GatewaySpec()
    status: GatewayStatus = GatewayStatus()


class GatewayClassSpec(Part, frozen=True):
    controller_name: str = ""


class ConditionsStatus(Part, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class GatewayClass(ApiObject, frozen=True):
    spec: GatewayClassSpec = GatewayClassSpec()
    status: ConditionsStatus = ConditionsStatus()


class ParentReference(Part, frozen=True):
    """
    The API's defaults: a Gateway, in the namespace of whoever refers to it.
    """

    common: ClassVar[tuple[str, ...]] = ("group", "kind", "namespace", "name")

    name: str
    group: str | None = None
    kind: str | None = None
    namespace: str | None = None
    section_name: str | None = None
    port: int | None = None


class ParentStatus(Part, frozen=True):
    common: ClassVar[tuple[str, ...]] = ("controller_name",)

    parent_ref: ParentReference
    controller_name: str | None = ""
    conditions: tuple[Condition, ...] | None = ()


class ParentsStatus(Part, frozen=True):
    parents: tuple[ParentStatus, ...] | None = ()


class BackendReference(Part, frozen=True):
    common: ClassVar[tuple[str, ...]] = ("group", "kind", "name")

    name: str
    group: str | None = None
    kind: str | None = None
    namespace: str | None = None
    port: int | None = None


class RouteRule(Part, frozen=True):
    backend_refs: tuple[BackendReference, ...] | None = ()


class HTTPRouteSpec(Part, frozen=True):
    parent_refs: tuple[ParentReference, ...] | None = ()
    rules: tuple[RouteRule, ...] | None = ()


class HTTPRoute(ApiObject, frozen=True):
    spec: HTTPRouteSpec = HTTPRouteSpec()
    status: ParentsStatus = ParentsStatus()


class PoolSelector(Part, frozen=True):
    common: ClassVar[tuple[str, ...]] = ("match_labels",)

    match_labels: dict[str, str] | None = None


class PickerPort(Part, frozen=True):
    number: int = 0


class EndpointPickerReference(Part, frozen=True):
    name: str
    kind: str | None = None
    port: PickerPort | None = None


class InferencePoolSpec(Part, frozen=True):
    """
    *endpoint_picker_ref* is optional from v1.6 of the inference extension on.
    """

    selector: PoolSelector = PoolSelector()
    endpoint_picker_ref: EndpointPickerReference | None = None


class InferencePool(ApiObject, frozen=True):
    spec: InferencePoolSpec = InferencePoolSpec()
    status: ParentsStatus = ParentsStatus()
