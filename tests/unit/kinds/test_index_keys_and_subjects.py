"""The index keys of each kind, and the subjects that a changed object affects."""

import pytest

from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.kinds.gateway_api import (
    BackendReference,
    HTTPRouteRule,
    HTTPRouteSpec,
    ParentReference,
)
from reporter.kinds.keda import ScaleTarget, ScalingSpec
from reporter.kinds.objects import AnnotatedMetadata, Metadata, OwnerReference
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


KINDS = {kind.resource: kind for kind in (*DEFAULT_KINDS, *OPTIONAL_KINDS)}
HARNESS = Subject(Layer.MODELHARNESS, "team-a")
EVERY_HARNESS = Subject(Layer.MODELHARNESS)
MODEL = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
EVERY_MODEL = Subject(Layer.MODELDEPLOYMENT, "team-a")

BY_KAITO = {"inferenceset.kaito.sh/created-by": "qwen"}
BY_CHART = {"kaito.sh/inferenceset": "qwen"}
BY_GATEWAY = {"gateway.networking.k8s.io/gateway-name": "gw"}
BY_POOL = {"inferencepool": "qwen-inferencepool-epp"}
REPLICA_SET = OwnerReference(kind="ReplicaSet", name="router-6c9f", controller=True)
FOR_WORKSPACE = {
    "karpenter.kaito.sh/workspace-namespace": "team-a",
    "karpenter.kaito.sh/workspace-name": "qwen-7rk2p",
}
FOR_WORKSPACE_OF_GPU_PROVISIONER = {
    "kaito.sh/workspacenamespace": "team-a",
    "kaito.sh/workspace": "qwen-7rk2p",
}
SILENCED = {"reporter.productionstack.kaito.sh/silence-until": "2026-12-01"}
CHECK = {"reporter.productionstack.kaito.sh/check": "smoke"}
OF_MODEL = {"karpenter.kaito.sh/inferenceset": "qwen"}


def scales(kind: str) -> ScalingSpec:
    return ScalingSpec(scale_target_ref=ScaleTarget(kind=kind, name="qwen"))


def leads_to(*backends: BackendReference) -> HTTPRouteSpec:
    return HTTPRouteSpec(rules=(HTTPRouteRule(backend_refs=backends),))


def a_case(resource, index_keys, subjects, *, label, name="x", namespace="team-a", **fields):
    owners, labels = fields.pop("owners", None), fields.pop("labels", None)
    type_ = KINDS[resource].type
    metadata = (
        AnnotatedMetadata
        if issubclass(type_.__annotations__.get("metadata", Metadata), AnnotatedMetadata)
        else Metadata
    )(name=name, namespace=namespace, labels=labels, owner_references=owners)
    changed = type_(metadata=metadata, **fields)
    return pytest.param(resource, changed, index_keys, subjects, id=f"{resource}: {label}")


CASES = [
    a_case(
        "namespaces",
        [],
        {CLUSTER_SUBJECT, EVERY_HARNESS, EVERY_MODEL},
        label="cluster, every harness, its models",
        name="team-a",
        namespace="",
    ),
    a_case(
        "nodes",
        [],
        {CLUSTER_SUBJECT, EVERY_HARNESS, Subject(Layer.MODELDEPLOYMENT)},
        label="all that may run on it",
        namespace="",
    ),
    *(
        a_case(
            resource,
            ["silenced"],
            subjects,
            label="with a label that silences",
            name="qwen" if resource == "inferencesets" else "team-a",
            namespace="team-a" if resource == "inferencesets" else "",
            labels=SILENCED,
        )
        for resource, subjects in (
            ("namespaces", {CLUSTER_SUBJECT, EVERY_HARNESS, EVERY_MODEL}),
            ("inferencesets", {MODEL}),
        )
    ),
    a_case(
        "deployments",
        ["name=x", "app=router", "app.kubernetes.io/name=bbr"],
        {CLUSTER_SUBJECT},
        label="a component of the control plane",
        labels={"app": "router", "app.kubernetes.io/name": "bbr", "team": "mesh"},
    ),
    a_case(
        "deployments",
        ["name=x", "team-a/gw"],
        {HARNESS},
        label="the data plane of a Gateway",
        labels=BY_GATEWAY,
    ),
    a_case(
        "deployments",
        ["name=x", "model=team-a/qwen"],
        {MODEL},
        label="an endpoint picker by its label",
        labels=BY_CHART,
    ),
    a_case(
        "deployments",
        ["name=qwen-inferencepool-epp"],
        {MODEL},
        label="an endpoint picker by its name",
        name="qwen-inferencepool-epp",
    ),
    a_case(
        "pods",
        ["team-a/router"],
        {CLUSTER_SUBJECT},
        label="a component of the control plane",
        labels={"pod-template-hash": "6c9f"},
        owners=(REPLICA_SET,),
    ),
    a_case("pods", ["model=team-a/qwen"], {MODEL}, label="a model pod", labels=BY_KAITO),
    a_case("pods", [], {MODEL}, label="an endpoint picker", labels=BY_POOL),
    a_case("pods", [], {HARNESS}, label="the data plane of a Gateway", labels=BY_GATEWAY),
    a_case("services", [], set(), label="those that pools name, by their index"),
    a_case(
        "gatewayclasses",
        [],
        {EVERY_HARNESS, Subject(Layer.MODELDEPLOYMENT)},
        label="every harness and model",
        namespace="",
    ),
    a_case("gateways", ["team-a/"], {HARNESS, EVERY_MODEL}, label="its harness and models"),
    a_case(
        "httproutes",
        ["team-a/", "model=team-a/qwen", "backend=other/p2", "backend=team-a/p1"],
        {HARNESS, MODEL},
        label="its model and backends",
        labels=BY_CHART,
        spec=leads_to(
            BackendReference(name="p1", kind="InferencePool"),
            BackendReference(name="p2", kind="InferencePool", namespace="other"),
            BackendReference(name="svc", kind="Service"),
        ),
    ),
    a_case("httproutes", ["team-a/"], {HARNESS, EVERY_MODEL}, label="a route of no model"),
    a_case(
        "httproutes",
        ["team-a/", "parent=infra/shared", "parent=team-a/gw"],
        {HARNESS, Subject(Layer.MODELHARNESS, "infra"), EVERY_MODEL},
        label="the harness of a Gateway elsewhere",
        spec=HTTPRouteSpec(
            parent_refs=(
                ParentReference(name="shared", namespace="infra"),
                ParentReference(name="gw"),
            )
        ),
    ),
    a_case("inferencepools", ["model=team-a/qwen"], {MODEL}, label="its model", labels=BY_CHART),
    a_case("inferencepools", [], {EVERY_MODEL}, label="a pool of no model"),
    a_case("inferencesets", [], {MODEL}, label="itself", name="qwen"),
    a_case("workspaces", ["model=team-a/qwen"], {MODEL}, label="its model", labels=BY_KAITO),
    a_case("apikeys", ["team-a/"], {HARNESS}, label="its harness"),
    a_case("envoyfilters", ["team-a/"], {HARNESS}, label="its harness"),
    a_case("ciliumnetworkpolicies", [], {HARNESS}, label="its harness"),
    a_case("authorizationpolicies", ["team-a/"], {HARNESS}, label="its harness"),
    a_case("configmaps", [], {EVERY_HARNESS}, label="every harness", namespace="istio-system"),
    a_case(
        "scaledobjects",
        ["model=team-a/qwen"],
        {MODEL},
        label="the scaled model",
        spec=scales("InferenceSet"),
    ),
    a_case("scaledobjects", [], set(), label="another target", spec=scales("Deployment")),
    a_case(
        "scaledobjects",
        ["model=team-a/qwen"],
        {MODEL},
        label="another target, and the model that owns it",
        spec=scales("Deployment"),
        owners=(OwnerReference(kind="InferenceSet", name="qwen", controller=True),),
    ),
    a_case(
        "horizontalpodautoscalers",
        [],
        {MODEL},
        label="the scaled model",
        spec=scales("InferenceSet"),
    ),
    a_case("horizontalpodautoscalers", [], set(), label="another target", spec=scales("Job")),
    a_case(
        "nodeclaims",
        ["workspace=team-a/qwen-7rk2p"],
        {MODEL},
        label="the model that it names",
        namespace="",
        labels={**FOR_WORKSPACE, **OF_MODEL},
    ),
    a_case(
        "nodeclaims",
        ["workspace=team-a/qwen-7rk2p"],
        {EVERY_MODEL},
        label="any model of its Workspace's namespace",
        namespace="",
        labels=FOR_WORKSPACE_OF_GPU_PROVISIONER,
    ),
    a_case("nodeclaims", [], set(), label="of no Workspace", namespace="", labels=OF_MODEL),
    a_case(
        "nodepools",
        ["workspace=team-a/qwen-7rk2p"],
        {MODEL},
        label="the model that it names",
        namespace="",
        labels={**FOR_WORKSPACE, **OF_MODEL},
    ),
    a_case("jobs", ["team-a/"], {CLUSTER_SUBJECT, HARNESS}, label="of no model", labels=CHECK),
    a_case(
        "jobs",
        ["team-a/", "model=team-a/qwen"],
        {CLUSTER_SUBJECT, HARNESS, MODEL},
        label="its model",
        labels={**CHECK, **BY_KAITO},
    ),
]


def test_every_kind_has_a_case():
    assert {case.values[0] for case in CASES} == KINDS.keys()


@pytest.mark.parametrize(("resource", "changed", "index_keys", "subjects"), CASES)
def test_a_changed_object(resource, changed, index_keys, subjects):
    kind = KINDS[resource]
    assert list(kind.index_keys(changed)) == index_keys
    assert set(kind.affects(changed)) == subjects
