"""
Which Gateways a workload namespace is served by.

Only those that its harness made or that its routes refer to: a namespace may hold others.
"""

from collections.abc import Iterable

from reporter.model.gateway_objects import Gateway, HTTPRoute, ParentReference
from reporter.model.kinds import GATEWAY_API, GATEWAYS, HTTP_ROUTES
from reporter.model.objects import ApiObject, Condition, condition
from reporter.model.verdicts import ObjectRef
from reporter.stages.indexes import in_namespace
from reporter.stages.snapshot import Snapshot


OWNED_BY = ("kaito.sh/owned-by", "modelharness")
"""
What the modelharness chart labels all that it makes with.
"""


def of_harness(made: ApiObject) -> bool:
    label, value = OWNED_BY
    return made.metadata.label(label) == value


def gateways(snapshot: Snapshot, namespace: str) -> tuple[Gateway, ...]:
    """
    Those on their way out too.
    """
    return tuple(
        gateway
        for gateway in snapshot.find(GATEWAYS, Gateway, in_namespace(namespace))
        if of_harness(gateway) or _is_routed(snapshot, gateway)
    )


def staying(found: Iterable[Gateway]) -> tuple[Gateway, ...]:
    return tuple(each for each in found if each.metadata.deletion_timestamp is None)


def _is_routed(snapshot: Snapshot, gateway: Gateway) -> bool:
    return reference(gateway) in parents(snapshot, gateway.metadata.namespace)


def parents(snapshot: Snapshot, namespace: str) -> tuple[ObjectRef, ...]:
    """
    The Gateways that routes of a namespace refer to, wherever these are, whether they exist or not.
    """
    return tuple(
        sorted(
            {
                ObjectRef(GATEWAYS.qualified, parent.namespace or namespace, parent.name)
                for route in snapshot.find(HTTP_ROUTES, HTTPRoute, in_namespace(namespace))
                if route.metadata.deletion_timestamp is None
                for parent in route.spec.parent_refs or ()
                if is_gateway(parent)
            }
        )
    )


def is_gateway(parent: ParentReference) -> bool:
    kind, group = parent.kind or GATEWAYS.kind, parent.group or GATEWAY_API
    return (kind, group) == (GATEWAYS.kind, GATEWAY_API)


def accepted(gateway: Gateway) -> Condition | None:
    """
    The condition by which a controller has taken the Gateway on; None while none has.
    """
    found = condition(gateway.status.conditions, "Accepted")
    return found if found is not None and found.status == "True" else None


def reference(gateway: Gateway) -> ObjectRef:
    return ObjectRef(GATEWAYS.qualified, gateway.metadata.namespace, gateway.metadata.name)
