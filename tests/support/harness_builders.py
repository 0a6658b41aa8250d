"""Builders of the objects of a workload namespace's harness, healthy by default."""

from datetime import UTC, datetime

import msgspec

from reporter.kinds.cilium import (
    CiliumNetworkPolicy,
    CiliumNetworkPolicySpec,
    CiliumNetworkPolicyStatus,
    EndpointSelector,
    IngressRule,
    MatchExpression,
)
from reporter.kinds.core import Namespace
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.gateway_api import (
    Gateway,
    GatewayAddress,
    GatewayClass,
    GatewayClassSpec,
    GatewayClassStatus,
    GatewaySpec,
    GatewayStatus,
    HTTPRoute,
    HTTPRouteSpec,
    Listener,
    ListenerStatus,
    ParentReference,
)
from reporter.kinds.istio import (
    EnvoyFilter,
    EnvoyFilterSpec,
    EnvoyFilterStatus,
    MessageType,
    ValidationMessage,
    WorkloadSelector,
)
from reporter.kinds.kaito import APIKey, APIKeyStatus
from reporter.kinds.objects import Condition, Metadata
from reporter.model.enums import Layer
from reporter.model.observations import Watching
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active
from reporter.store.store import Store
from tests.support.builders import LONG_AGO, a_deployment, an_observed_condition
from tests.support.catalogue_fixture import (
    DEFAULT_CATALOGUE,
    HARNESS_LABEL,
    SUBJECTS,
    a_probe_request,
)
from tests.support.probe_verdicts import verdicts_of_request


TEAM = "team-a"
GATEWAY = "team-a-gw"
DATA_PLANE = f"{GATEWAY}-istio"
GATEWAY_LABEL = "gateway.networking.k8s.io/gateway-name"
HARNESS = {"kaito.sh/owned-by": "modelharness"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
POD_NAMESPACE = "k8s:io.kubernetes.pod.namespace"
AUTHZ = "outbound|9001||apikey-authz.llm-gateway-auth.svc.cluster.local"
FILTERS = ("model-not-found-direct", "gateway-filter-outage-local-reply", "bbr-ext-proc")


ACCEPTED = an_observed_condition("Accepted")
PROGRAMMED = an_observed_condition("Programmed")
DEFAULT_CONDITIONS = tuple(
    an_observed_condition(kind, "Unknown", "Pending", "Waiting for controller", EPOCH, 0)
    for kind in ("Accepted", "Programmed")
)
"""The conditions that Gateway API's CRD sets by default, before a controller writes any."""


def metadata(name: str, namespace: str = TEAM, **changes) -> Metadata:
    return Metadata(
        name=name,
        namespace=namespace,
        uid=f"uid-{name}",
        generation=changes.get("generation", 1),
        creation_timestamp=changes.get("created_at", LONG_AGO),
        deletion_timestamp=changes.get("deleted"),
        labels=changes.get("labels", HARNESS),
    )


def a_team() -> Namespace:
    """Build the workload namespace, with the label by which the reporter discovers it."""
    label, value = HARNESS_LABEL
    return Namespace(metadata=metadata(TEAM, "", labels={label: value}))


def a_gateway(name: str = GATEWAY, *conditions: Condition, **changes) -> Gateway:
    """
    Build a Gateway with *conditions*, accepted and programmed by default.

    *listeners*: names in the spec. *listener_conditions*: conditions in the status, by listener name.
    """
    return Gateway(
        metadata=metadata(name, **changes),
        spec=GatewaySpec(
            gateway_class_name=changes.get("class_name", "istio"),
            listeners=tuple(Listener(name=n) for n in changes.get("listeners", ("http",))),
            addresses=tuple(GatewayAddress() for _ in changes.get("addresses", ())),
        ),
        status=GatewayStatus(
            conditions=conditions or (ACCEPTED, PROGRAMMED),
            listeners=tuple(
                ListenerStatus(name=name, conditions=tuple(listener_conditions))
                for name, listener_conditions in changes.get("listener_conditions", {}).items()
            ),
        ),
    )


def a_class(name: str = "istio", *conditions: Condition, **changes) -> GatewayClass:
    return GatewayClass(
        metadata=metadata(name, "", **{"labels": None, **changes}),
        spec=GatewayClassSpec(
            controller_name=changes.get("controller", "istio.io/gateway-controller")
        ),
        status=GatewayClassStatus(conditions=conditions or (ACCEPTED,)),
    )


def a_route(name: str = "qwen-route", gateway: str = GATEWAY, **changes) -> HTTPRoute:
    parent = ParentReference(
        name=gateway, namespace=changes.get("of"), kind=changes.get("parent_kind")
    )
    return HTTPRoute(
        metadata=metadata(name, **{"labels": None, **changes}),
        spec=HTTPRouteSpec(parent_refs=(parent,)),
    )


def a_data_plane(name: str = DATA_PLANE, *, gateway: str = GATEWAY, **changes):
    labels = {GATEWAY_LABEL: gateway}
    return a_deployment(name, TEAM, **{"replicas": 1, "labels": labels, **changes})


def a_filter(name: str = FILTERS[0], gateway: str | None = GATEWAY, **changes) -> EnvoyFilter:
    """
    Build an EnvoyFilter that selects the pods of *gateway*; None for no selector.

    *clusters*: Envoy clusters of ext_authz filters. *messages*: (level, code, name) of Istio's
    analysis, for the generation *observed*.
    """
    labels = changes.get("selects", {GATEWAY_LABEL: gateway})
    return EnvoyFilter(
        metadata=metadata(name, **changes),
        spec=EnvoyFilterSpec(
            workload_selector=WorkloadSelector(labels=labels) if gateway is not None else None,
            config_patches=msgspec.Raw(patches(*changes.get("clusters", ()))),
        ),
        status=EnvoyFilterStatus(
            observed_generation=changes.get("observed", 0),
            validation_messages=tuple(
                ValidationMessage(level=level, type=MessageType(name=name, code=code))
                for level, code, name in changes.get("messages", ())
            ),
        ),
    )


def patches(*clusters: str) -> bytes:
    """
    Return configPatches with one ext_authz filter for each cluster, shortened from the chart's.
    """
    kind = "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz"
    return msgspec.json.encode(
        [
            {
                "applyTo": "HTTP_FILTER",
                "patch": {
                    "operation": "INSERT_FIRST",
                    "value": {
                        "typed_config": {
                            "@type": kind,
                            "grpc_service": {"envoy_grpc": {"cluster_name": cluster}},
                        }
                    },
                },
            }
            for cluster in clusters
        ]
    )


def an_authz_filter(name: str = "apikey-ext-authz", *clusters: str, **changes) -> EnvoyFilter:
    return a_filter(name, clusters=clusters or (AUTHZ,), **changes)


def an_api_key(name: str = "default", *conditions: Condition, **changes) -> APIKey:
    return APIKey(
        metadata=metadata(name, **changes),
        status=APIKeyStatus(phase=changes.get("phase", "Active"), conditions=conditions),
    )


def a_namespace_in_selector(*namespaces: str) -> EndpointSelector:
    expression = MatchExpression(key=POD_NAMESPACE, operator="In", values=namespaces)
    return EndpointSelector(match_expressions=(expression,))


def a_label_selector(**labels: str) -> EndpointSelector:
    return EndpointSelector(match_labels=labels)


def a_policy(
    *selectors: EndpointSelector, valid: Condition | None = None, **changes
) -> CiliumNetworkPolicy:
    """Build a policy that allows its own namespace and the selectors, or *rules* instead."""
    own = IngressRule(from_endpoints=(EndpointSelector(), *selectors))
    return CiliumNetworkPolicy(
        metadata=metadata("inference-pods-ingress", **changes),
        spec=CiliumNetworkPolicySpec(ingress=changes.get("rules", (own,))),
        status=CiliumNetworkPolicyStatus(conditions=(valid,) if valid else ()),
    )


def a_harness_store(*objects, deleted=()) -> Store:
    """
    Build a store with the team's namespace and these objects; *deleted* are added and deleted.
    """
    store = Store(DEFAULT_KINDS, subjects=SUBJECTS)
    by_type = {kind.type: kind for kind in DEFAULT_KINDS}
    for kind in DEFAULT_KINDS:
        store.set_watch_state(kind, Watching())
    for each in (a_team(), *objects, *deleted):
        store.upsert(by_type[type(each)], each)
    for each in deleted:
        store.delete(by_type[type(each)], each.metadata.namespace, each.metadata.name)
    return store


def verdict_of(reason: str, *objects, deleted=(), store: Store | None = None, **flags):
    """Return the verdict of a reason's probe about the team's namespace; flags in snake case."""
    store = store or a_harness_store(*objects, deleted=deleted)
    request = msgspec.structs.replace(
        a_probe_request(reason, **flags), subject=Subject(Layer.MODELHARNESS, TEAM)
    )
    (verdict,) = verdicts_of_request(request, store)
    return verdict


def rendered_troubles(verdict) -> list[str]:
    """Return the message of each trouble, without foreign text and remedy."""
    assert isinstance(verdict, Active), verdict
    template = DEFAULT_CATALOGUE[verdict.key.reason].message_template.removeprefix(
        "Namespace {namespace}: "
    )
    return [template.removesuffix(".").format_map(t.message_fields) for t in verdict.troubles]
