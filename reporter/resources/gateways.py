"""
The Gateways that serve a workload namespace.

These are the Gateways that its harness created and those that a route names as parent, of this
namespace or another. A namespace may hold others, of other controllers, which are not evaluated.
"""

from collections.abc import Sequence

from msgspec import Struct

from reporter.kinds.gateway_api import (
    GATEWAY_API_GROUP,
    GATEWAYS,
    HTTP_ROUTES,
    Gateway,
    HTTPRoute,
    ListenerStatus,
    ParentReference,
)
from reporter.kinds.objects import (
    ApiObject,
    Condition,
    find_condition,
    namespace_key,
    parent_gateway_key,
)
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import abbreviate_list
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.resources.conditions import (
    exclude_deleting,
    is_condition_true,
    reason_text,
    with_condition,
)
from reporter.snapshot.snapshot import Snapshot


OWNED_BY_LABEL = ("kaito.sh/owned-by", "modelharness")
"""The label that the modelharness chart sets on every object it creates."""


def is_owned_by_harness(about: ApiObject) -> bool:
    """Return whether the modelharness chart made an object, which its label tells."""
    label, value = OWNED_BY_LABEL
    return about.metadata.label(label) == value


def find_gateways(snapshot: Snapshot, namespace: str) -> tuple[Gateway, ...]:
    """
    Return the Gateways of a namespace that its harness made or a route names, those being deleted included.
    """
    return tuple(
        gateway
        for gateway in snapshot.by_index(GATEWAYS, Gateway, namespace_key(namespace))
        if is_owned_by_harness(gateway) or exclude_deleting(routes_of_gateway(snapshot, gateway))
    )


def routes_of_gateway(snapshot: Snapshot, gateway: Gateway) -> tuple[HTTPRoute, ...]:
    """Return the routes that name a Gateway as parent, in any namespace."""
    meta = gateway.metadata
    key = parent_gateway_key(meta.namespace, meta.name)
    named = snapshot.by_index(HTTP_ROUTES, HTTPRoute, key)
    return tuple(each for each in named if _names(each, meta.namespace, meta.name))


def _names(route: HTTPRoute, namespace: str, name: str) -> bool:
    """Return whether a parentRef is about this Gateway, and not about another kind of this name."""
    own = route.metadata.namespace
    return any(
        is_gateway_parent(each) and (each.namespace or own, each.name) == (namespace, name)
        for each in route.spec.parent_refs or ()
    )


def parent_gateway_refs(snapshot: Snapshot, namespace: str) -> tuple[ObjectRef, ...]:
    """Return the parents of a namespace's routes, in any namespace and existing or not."""
    routes = snapshot.by_index(HTTP_ROUTES, HTTPRoute, namespace_key(namespace))
    return tuple(
        sorted(
            {
                GATEWAYS.ref(parent.namespace or namespace, parent.name)
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


def gateway_trouble(gateway: Gateway, code: str, kind: TroubleKind, state: str) -> Trouble:
    """
    Build the trouble of a Gateway that is out.

    *code*: of the cause. *state*: the half sentence after its name in the message.
    """
    meta = gateway.metadata
    return Trouble(
        cause=Cause(GATEWAYS.ref_to(gateway), code),
        kind=kind,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        message_fields={"gateway": meta.name, "state": state},
    )


# --------------------------------------------------------------------
# Trouble of a Gateway's listeners, from the conditions of each listener.
#
# Source: Gateway API, ListenerStatus and ListenerConditionReason.


FAILING_STATUS = {
    "ResolvedRefs": "False",
    "Accepted": "False",
    "Conflicted": "True",
    "Programmed": "False",
}
"""
The status by which a listener's condition states trouble; causes come before their consequences.
"""

CERTIFICATE_REASONS = frozenset(
    {
        "InvalidCertificateRef",
        "RefNotPermitted",
        "InvalidCACertificateRef",
        "InvalidCACertificateKind",
        "NoValidCACertificate",
    }
)
"""
Reasons for a TLS certificate or CA bundle that is missing, malformed or not allowed to be used.
"""

PENDING = "Pending"


class ListenerFailure(Struct, frozen=True):
    """The condition that states the trouble of one listener."""

    listener: str
    condition: Condition

    @property
    def is_starting(self) -> bool:
        """True if the reason is Pending: the controller has not programmed it yet."""
        return self.condition.reason == PENDING


def find_listener_failures(gateway: Gateway) -> Sequence[ListenerFailure]:
    """
    Return the failures of a Gateway's listeners, ordered by name.

    The status may still have entries of listeners that were removed from the spec.
    """
    in_spec = {listener.name for listener in gateway.spec.listeners or ()}
    statuses = sorted(gateway.status.listeners or (), key=lambda each: each.name)
    conditions = ((each.name, _failing_condition(each)) for each in statuses)
    return [
        ListenerFailure(name, condition)
        for name, condition in conditions
        if condition is not None and name in in_spec
    ]


def _failing_condition(listener: ListenerStatus) -> Condition | None:
    for type_, failing_status in FAILING_STATUS.items():
        condition = find_condition(listener.conditions, type_)
        if condition is not None and condition.status == failing_status:
            return condition
    return None


def listener_trouble(gateway: Gateway, failures: Sequence[ListenerFailure]) -> Trouble | None:
    """Build one trouble from the failures of a Gateway's listeners; None without any failure."""
    if not failures:
        return None
    has_certificate_error = any(f.condition.reason in CERTIFICATE_REASONS for f in failures)
    is_starting = all(failure.is_starting for failure in failures)
    what = abbreviate_list(
        [f"{reason_text(each.condition)} on listener {each.listener}" for each in failures]
    )
    if is_starting:
        trouble = gateway_trouble(
            gateway, "NotProgrammed", TroubleKind.STARTING, f"is not programmed yet ({what})"
        )
        return with_condition(trouble, failures[0].condition, gateway.metadata)
    code = "Certificate" if has_certificate_error else "Listener"
    trouble = gateway_trouble(gateway, code, TroubleKind.FAILED, f"programming failed ({what})")
    return with_condition(trouble, failures[0].condition, gateway.metadata)
