"""
The objects of a workload namespace's harness, healthy unless told otherwise. No behaviour.
"""

from datetime import UTC, datetime

import msgspec

from reporter.model.gateway_objects import (
    ConditionsStatus,
    Gateway,
    GatewayAddress,
    GatewayClass,
    GatewayClassSpec,
    GatewaySpec,
    GatewayStatus,
    HTTPRoute,
    HTTPRouteSpec,
    Listener,
    ListenerStatus,
    ParentReference,
)
from reporter.model.kaito_objects import APIKey, APIKeyStatus
from reporter.model.kinds import KINDS
from reporter.model.mesh_objects import (
    CiliumNetworkPolicy,
    EndpointSelector,
    EnvoyFilter,
    EnvoyFilterSpec,
    EnvoyFilterStatus,
    IngressRule,
    MatchExpression,
    MessageType,
    NetworkPolicySpec,
    NetworkPolicyStatus,
    ValidationMessage,
    WorkloadSelector,
)
from reporter.model.objects import Condition, Metadata, Namespace
from reporter.model.observations import Watched
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active
from reporter.model.words import Layer
from reporter.stages.probes import PROBES
from reporter.stages.store import Store
from reporter.stages.subjects import HARNESS_LABEL
from tests.builders import LONG_AGO, a_deployment
from tests.shipped import CATALOGUE, a_question


TEAM = "team-a"
GATEWAY = "team-a-gw"
DATA_PLANE = f"{GATEWAY}-istio"
GATEWAY_LABEL = "gateway.networking.k8s.io/gateway-name"
HARNESS = {"kaito.sh/owned-by": "modelharness"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
POD_NAMESPACE = "k8s:io.kubernetes.pod.namespace"
AUTHZ = "outbound|9001||apikey-authz.llm-gateway-auth.svc.cluster.local"
FILTERS = ("model-not-found-direct", "gateway-filter-outage-local-reply", "bbr-ext-proc")


def said(kind, status="True", reason=None, message="", since=LONG_AGO, observed=1) -> Condition:
    """
    A condition with the generation it observed.
    """
    return Condition(
        type=kind,
        status=status,
        reason=kind if reason is None else reason,
        message=message,
        last_transition_time=since,
        observed_generation=observed,
    )


ACCEPTED = said("Accepted")
PROGRAMMED = said("Programmed")
UNTOUCHED = tuple(
    said(kind, "Unknown", "Pending", "Waiting for controller", EPOCH, 0)
    for kind in ("Accepted", "Programmed")
)
"""
The default of the CRD, before any controller wrote.
"""


def metadata(name: str, namespace: str = TEAM, **changes) -> Metadata:
    return Metadata(
        name=name,
        namespace=namespace,
        uid=f"uid-{name}",
        generation=changes.get("generation", 1),
        creation_timestamp=changes.get("born", LONG_AGO),
        deletion_timestamp=changes.get("deleted"),
        labels=changes.get("labels", HARNESS),
    )


def a_team() -> Namespace:
    """
    The namespace, with the label that makes it one to be judged.
    """
    label, value = HARNESS_LABEL
    return Namespace(metadata=metadata(TEAM, "", labels={label: value}))


def a_gateway(name: str = GATEWAY, *conditions: Condition, **changes) -> Gateway:
    """
    *listeners* of its spec by name; *stated*: conditions of listeners by name.
    """
    return Gateway(
        metadata=metadata(name, **changes),
        spec=GatewaySpec(
            gateway_class_name=changes.get("class_name", "istio"),
            listeners=tuple(Listener(name=n) for n in changes.get("listeners", ("http",))),
            addresses=tuple(
                GatewayAddress(type="Hostname", value=value)
                for value in changes.get("addresses", ())
            ),
        ),
        status=GatewayStatus(
            conditions=conditions or (ACCEPTED, PROGRAMMED),
            listeners=tuple(
                ListenerStatus(name=name, conditions=tuple(stated))
                for name, stated in changes.get("stated", {}).items()
            ),
        ),
    )


def a_class(name: str = "istio", *conditions: Condition, **changes) -> GatewayClass:
    return GatewayClass(
        metadata=metadata(name, "", **{"labels": None, **changes}),
        spec=GatewayClassSpec(
            controller_name=changes.get("controller", "istio.io/gateway-controller")
        ),
        status=ConditionsStatus(conditions=conditions or (ACCEPTED,)),
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
    *gateway* whose pods it selects, None without a selector. *asks*: clusters of an ext_authz filter.

    *messages*: (level, code, name) of Istio's analysis; *observed*: the generation of that.
    """
    labels = changes.get("selects", {GATEWAY_LABEL: gateway})
    return EnvoyFilter(
        metadata=metadata(name, **changes),
        spec=EnvoyFilterSpec(
            workload_selector=WorkloadSelector(labels=labels) if gateway is not None else None,
            config_patches=msgspec.Raw(patches(*changes.get("asks", ()))),
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
    As the chart's filter has them, shortened.
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
    return a_filter(name, asks=clusters or (AUTHZ,), **changes)


def an_api_key(name: str = "default", *conditions: Condition, **changes) -> APIKey:
    return APIKey(
        metadata=metadata(name, **changes),
        status=APIKeyStatus(phase=changes.get("phase", "Active"), conditions=conditions),
    )


def allowing(*namespaces: str) -> EndpointSelector:
    expression = MatchExpression(key=POD_NAMESPACE, operator="In", values=namespaces)
    return EndpointSelector(match_expressions=(expression,))


def labelled(**labels: str) -> EndpointSelector:
    return EndpointSelector(match_labels=labels)


def a_policy(
    *selectors: EndpointSelector, valid: Condition | None = None, **changes
) -> CiliumNetworkPolicy:
    """
    Lets in its own namespace and what the selectors name; *rules* instead of that.
    """
    own = IngressRule(from_endpoints=(EndpointSelector(), *selectors))
    return CiliumNetworkPolicy(
        metadata=metadata("inference-pods-ingress", **changes),
        spec=NetworkPolicySpec(ingress=changes.get("rules", (own,))),
        status=NetworkPolicyStatus(conditions=(valid,) if valid else ()),
    )


def a_harness_store(*objects, deleted=()) -> Store:
    """
    The team's namespace and what is given, all seen; *deleted* were there and are gone.
    """
    store = Store(KINDS)
    by_type = {kind.type: kind for kind in KINDS}
    for kind in KINDS:
        store.sight(kind, Watched())
    for each in (a_team(), *objects, *deleted):
        store.put(by_type[type(each)], each)
    for each in deleted:
        store.drop(by_type[type(each)], each.metadata.namespace, each.metadata.name)
    return store


def judged(reason: str, *objects, deleted=(), store: Store | None = None, **flags):
    """
    The verdict of a reason's probe about the team's namespace; flags in snake case.
    """
    store = store or a_harness_store(*objects, deleted=deleted)
    asked = msgspec.structs.replace(
        a_question(reason, **flags), subject=Subject(Layer.MODELHARNESS, TEAM)
    )
    (verdict,) = PROBES[CATALOGUE[asked.reason].probe].judge(store.view(), asked)
    return verdict


def told(verdict) -> list[str]:
    """
    What the message is filled with, without the text of others.
    """
    assert isinstance(verdict, Active), verdict
    template = CATALOGUE[verdict.key.reason].message.removeprefix("Namespace {namespace}: ")
    return [template.removesuffix(".").format_map(t.fields) for t in verdict.troubles]


def only(verdict):
    assert isinstance(verdict, Active), verdict
    (trouble,) = verdict.troubles
    return trouble
