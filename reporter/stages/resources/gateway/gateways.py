"""
The Gateways that serve a workload namespace.

These are the Gateways that its harness created and those that its routes name as parents. A
namespace may hold others, of other controllers, which are nobody's business here.
"""

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.keys import namespace_key
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.gateway_api.gateways import GATEWAY_API_GROUP, GATEWAYS, Gateway
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES, HTTPRoute
from reporter.model.kinds.gateway_api.parents import ParentReference
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.stages.resources.conditions import is_condition_true
from reporter.stages.resources.existence import exclude_deleting
from reporter.stages.snapshot.snapshot import Snapshot


OWNED_BY_LABEL = ("kaito.sh/owned-by", "modelharness")
"""The label that the modelharness chart sets on every object it creates."""


def is_owned_by_harness(about: ApiObject) -> bool:
    label, value = OWNED_BY_LABEL
    return about.metadata.label(label) == value


def find_gateways(snapshot: Snapshot, namespace: str) -> tuple[Gateway, ...]:
    """Return the Gateways of a namespace, those being deleted included."""
    return tuple(
        gateway
        for gateway in snapshot.by_index(GATEWAYS, Gateway, namespace_key(namespace))
        # Reading all routes is the expensive half, and not needed for a Gateway of the harness.
        if is_owned_by_harness(gateway)
        or gateway_ref(gateway) in parent_gateway_refs(snapshot, namespace)
    )


def parent_gateway_refs(snapshot: Snapshot, namespace: str) -> tuple[ObjectRef, ...]:
    """Return the parents of a namespace's routes, in any namespace and existing or not."""
    routes = snapshot.by_index(HTTP_ROUTES, HTTPRoute, namespace_key(namespace))
    return tuple(
        sorted(
            {
                ObjectRef(GATEWAYS.group_resource, parent.namespace or namespace, parent.name)
                for route in exclude_deleting(routes)
                for parent in route.spec.parent_refs or ()
                if is_gateway_parent(parent)
            }
        )
    )


def is_gateway_parent(parent: ParentReference) -> bool:
    """Return whether a parentRef names a Gateway; kind and group default to it (Gateway API)."""
    if parent.kind and parent.kind != GATEWAYS.kind:
        return False
    return not parent.group or parent.group == GATEWAY_API_GROUP


def accepted_condition(gateway: Gateway) -> Condition | None:
    """
    Return the Accepted condition if it is True; None while no controller has accepted the Gateway.
    """
    accepted = find_condition(gateway.status.conditions, "Accepted")
    return accepted if is_condition_true(accepted) else None


def gateway_ref(gateway: Gateway) -> ObjectRef:
    return ObjectRef(GATEWAYS.group_resource, gateway.metadata.namespace, gateway.metadata.name)


def gateway_trouble(gateway: Gateway, code: str, kind: TroubleKind, state: str) -> Trouble:
    meta = gateway.metadata
    return Trouble(
        cause=Cause(gateway_ref(gateway), code),
        kind=kind,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        message_fields={"gateway": meta.name, "state": state},
    )
