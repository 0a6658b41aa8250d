"""
Partial objects of Gateway API and its inference extension.
"""

from typing import ClassVar

from reporter.model.kinds.objects import ApiObject, ApiStruct, Condition


class Listener(ApiStruct, frozen=True):
    name: str
    port: int = 0
    protocol: str | None = ""


class GatewayAddress(ApiStruct, frozen=True):
    type: str | None = ""
    value: str | None = ""


class GatewaySpec(ApiStruct, frozen=True):
    """
    *addresses*: given by hand, so that no Deployment is made for the Gateway (Istio).
    """

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


class GatewayClassSpec(ApiStruct, frozen=True):
    controller_name: str = ""


class GatewayClassStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class GatewayClass(ApiObject, frozen=True):
    spec: GatewayClassSpec = GatewayClassSpec()
    status: GatewayClassStatus = GatewayClassStatus()


class ParentReference(ApiStruct, frozen=True):
    """
    The API's defaults: a Gateway, in the namespace of whoever refers to it.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ("group", "kind", "namespace", "name")

    name: str
    group: str | None = None
    kind: str | None = None
    namespace: str | None = None
    section_name: str | None = None
    port: int | None = None


class ParentStatus(ApiStruct, frozen=True):
    interned_fields: ClassVar[tuple[str, ...]] = ("controller_name",)

    parent_ref: ParentReference
    controller_name: str | None = ""
    conditions: tuple[Condition, ...] | None = ()


class ParentsStatus(ApiStruct, frozen=True):
    parents: tuple[ParentStatus, ...] | None = ()


class BackendReference(ApiStruct, frozen=True):
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


class InferencePoolSelector(ApiStruct, frozen=True):
    interned_fields: ClassVar[tuple[str, ...]] = ("match_labels",)

    match_labels: dict[str, str] | None = None


class EndpointPickerPort(ApiStruct, frozen=True):
    number: int = 0


class EndpointPickerReference(ApiStruct, frozen=True):
    name: str
    kind: str | None = None
    port: EndpointPickerPort | None = None


class InferencePoolSpec(ApiStruct, frozen=True):
    """
    *endpoint_picker_ref* is optional from v1.6 of the inference extension on.
    """

    selector: InferencePoolSelector = InferencePoolSelector()
    endpoint_picker_ref: EndpointPickerReference | None = None


class InferencePool(ApiObject, frozen=True):
    spec: InferencePoolSpec = InferencePoolSpec()
    status: ParentsStatus = ParentsStatus()
