"""
The parent Gateways of a route, and the status entries that their controllers write about them.

Sources: Gateway API (RouteParentStatus) and the Inference Extension (InferencePool status.parents).
"""

from collections.abc import Sequence
from typing import TypeAlias

from reporter.kinds import gateway_api
from reporter.kinds.objects import NamespacedName
from reporter.resources.conditions import is_deleting
from reporter.resources.gateways import is_gateway_parent
from reporter.resources.routes import gateway_parents
from reporter.snapshot.snapshot import Snapshot


ISTIO_CONTROLLER = "istio.io/gateway-controller"

ISTIO_GATEWAY_GROUP = "networking.istio.io"
"""
The group that Istio gives the Gateway in its entries about InferencePools: that of its own kind Gateway
(pilot/pkg/config/kube/gateway/inferencepool_collection.go, ``gvk.Gateway.Group``).
"""

ParentControllers: TypeAlias = Sequence[tuple[gateway_api.ParentReference, str]]
"""
The parentRefs of a route whose Gateway exists, each with the controllerName of the Gateway's class, which
is empty if the class does not exist.
"""

ListenerKey: TypeAlias = tuple[str | None, int | None]
"""The sectionName and the port of a parentRef."""

NO_LISTENER: ListenerKey = (None, None)


def find_parent_controllers(snapshot: Snapshot, route: gateway_api.HTTPRoute) -> ParentControllers:
    """
    Return the parents of a route whose Gateway exists and is not being deleted.

    A Gateway that is being deleted accepts nothing any more, and the entries about it stay as they
    were.
    """
    found = []
    for parent in gateway_parents(route):
        namespace = parent.namespace or route.metadata.namespace
        gateway = snapshot.get(gateway_api.GATEWAYS, gateway_api.Gateway, namespace, parent.name)
        if gateway is not None and not is_deleting(gateway):
            name = gateway.spec.gateway_class_name
            of_class = snapshot.get(
                gateway_api.GATEWAY_CLASSES, gateway_api.GatewayClass, "", name
            )
            found.append((parent, of_class.spec.controller_name if of_class is not None else ""))
    return found


def find_parent_statuses(
    status: gateway_api.ParentsStatus,
    namespace: str,
    gateway: NamespacedName,
    listener: ListenerKey = NO_LISTENER,
) -> list[gateway_api.ParentStatus]:
    """
    Return the entries about a Gateway, or one *listener* of it, whichever controller wrote them.

    *namespace*: the namespace of the object with this status, which is a parentRef's default. A new
    InferencePool has a placeholder entry with a parent of kind ``Status`` (Inference Extension CRD),
    which is skipped.
    """
    return [
        each
        for each in status.parents or ()
        if (ref := each.parent_ref).name == gateway[1]
        and (ref.namespace or namespace) == gateway[0]
        and (ref.section_name, ref.port) == listener
        and (
            is_gateway_parent(ref)
            or (ref.group == ISTIO_GATEWAY_GROUP and ref.kind == gateway_api.GATEWAYS.kind)
        )
    ]


def select_parent_status(
    entries: Sequence[gateway_api.ParentStatus], controller_name: str
) -> gateway_api.ParentStatus | None:
    """
    Select the entry of the Gateway's own controller; *controller_name* is empty if not known.

    Another controller may have left an entry about the same Gateway, and nobody removes it. Istio
    sets controllerName on routes but leaves it empty on InferencePools
    (pilot/pkg/config/kube/gateway/inferencepool_collection.go).
    """
    for name in (controller_name or ISTIO_CONTROLLER, ""):
        for each in entries:
            if (each.controller_name or "") == name:
                return each
    return entries[0] if entries and not controller_name else None
