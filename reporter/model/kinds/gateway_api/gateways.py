"""Gateways."""

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.keys import namespace_keys, parent_gateway_key
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import harness_of, model_of
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import Subject


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


def affects(gateway: Gateway) -> tuple[Subject, ...]:
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
    affects=affects,
    referrers=(("httproutes", _parent_key),),
)
