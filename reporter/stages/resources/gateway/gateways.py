"""
Which Gateways a workload namespace is served by.

Only those that its harness made or that its routes refer to: a namespace may hold others.
"""

from collections.abc import Iterable

from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.keys import namespace_key
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.gateway_api.gateways import GATEWAY_API_GROUP, GATEWAYS, Gateway
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES, HTTPRoute
from reporter.model.kinds.gateway_api.parents import ParentReference
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.snapshot import Snapshot


OWNED_BY_LABEL = ("kaito.sh/owned-by", "modelharness")
"""
What the modelharness chart labels all that it makes with.
"""


def is_owned_by_harness(made: ApiObject) -> bool:
    label, value = OWNED_BY_LABEL
    return made.metadata.label(label) == value


def find_gateways(snapshot: Snapshot, namespace: str) -> tuple[Gateway, ...]:
    """
    Those on their way out too.
    """
    return tuple(
        gateway
        for gateway in snapshot.by_index(GATEWAYS, Gateway, namespace_key(namespace))
        if is_owned_by_harness(gateway) or _is_referenced(snapshot, gateway)
    )


def exclude_deleting_gateways(found: Iterable[Gateway]) -> tuple[Gateway, ...]:
    return tuple(each for each in found if each.metadata.deletion_timestamp is None)


def _is_referenced(snapshot: Snapshot, gateway: Gateway) -> bool:
    return gateway_ref(gateway) in parent_gateway_refs(snapshot, gateway.metadata.namespace)


def parent_gateway_refs(snapshot: Snapshot, namespace: str) -> tuple[ObjectRef, ...]:
    """
    The Gateways that routes of a namespace refer to, wherever these are, whether they exist or not.
    """
    return tuple(
        sorted(
            {
                ObjectRef(GATEWAYS.group_resource, parent.namespace or namespace, parent.name)
                for route in snapshot.by_index(HTTP_ROUTES, HTTPRoute, namespace_key(namespace))
                if route.metadata.deletion_timestamp is None
                for parent in route.spec.parent_refs or ()
                if is_gateway_parent(parent)
            }
        )
    )


def is_gateway_parent(parent: ParentReference) -> bool:
    kind, group = parent.kind or GATEWAYS.kind, parent.group or GATEWAY_API_GROUP
    return (kind, group) == (GATEWAYS.kind, GATEWAY_API_GROUP)


def accepted_condition(gateway: Gateway) -> Condition | None:
    """
    The condition by which a controller has taken the Gateway on; None while none has.
    """
    found = find_condition(gateway.status.conditions, "Accepted")
    return found if found is not None and found.status == "True" else None


def gateway_ref(gateway: Gateway) -> ObjectRef:
    return ObjectRef(GATEWAYS.group_resource, gateway.metadata.namespace, gateway.metadata.name)
