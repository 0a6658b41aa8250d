"""The team of the example stack: its namespace, its Gateway and one model, all healthy."""

from collections.abc import Iterator
from datetime import datetime

from devcluster.controllers.workloads import NODE, running_status
from devcluster.schema import times
from devcluster.schema.api_errors import Json


TEAM = "team-a"
MODEL = "qwen"
GATEWAY = f"{TEAM}-gw"
WORKSPACE = f"{MODEL}-7rk2p"
POOL = f"{MODEL}-inferencepool"
EPP = f"{POOL}-epp"

_HARNESS_LABELS = {"kaito.sh/owned-by": "modelharness"}
_MODEL_LABELS = {"kaito.sh/inferenceset": MODEL, "kaito.sh/owned-by": "modeldeployment"}
_GATEWAY_GROUP = "gateway.networking.k8s.io"
_GATEWAY_LABELS = {
    "gateway.networking.k8s.io/gateway-name": GATEWAY,
    "gateway.networking.k8s.io/gateway-class-name": "istio",
    "gateway.istio.io/managed": "istio.io-gateway-controller",
}
_WORKSPACE_LABELS = {"kaito.sh/workspace": WORKSPACE, "inferenceset.kaito.sh/created-by": MODEL}


def namespace() -> Json:
    labels = {"productionstack.kaito.sh/managed-by": "modelharness"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM, "labels": labels}}


def deployment(
    namespace: str, name: str, labels: dict[str, str], *, replicas: int = 1, recreate: bool = False
) -> Json:
    """Build a Deployment of one container, as a chart would."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            **({"strategy": {"type": "Recreate"}} if recreate else {}),
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": name, "image": f"example/{name}:1"}]},
            },
        },
    }


def deployments() -> list[Json]:
    data_plane = deployment(TEAM, f"{GATEWAY}-istio", _GATEWAY_LABELS)
    picker = deployment(TEAM, EPP, {"inferencepool": EPP}, recreate=True)
    picker["metadata"]["labels"] = {**_MODEL_LABELS, "inferencepool": EPP}
    return [data_plane, picker]


def manifests(since: datetime) -> Iterator[Json]:
    """Yield all but the namespace and the Deployments; conditions are true since *since*."""
    stamp = times.format_time(since)
    yield _gateway_class(stamp)
    yield _gateway(stamp)
    for name in ("bbr-ext-proc", "model-not-found-direct", "gateway-filter-outage-local-reply"):
        yield _envoy_filter(name)
    yield _envoy_filter("apikey-ext-authz", _ext_authz_patch())
    yield _api_key(stamp)
    yield _service(f"{GATEWAY}-istio", _GATEWAY_LABELS, 80)
    yield _service(EPP, {"inferencepool": EPP}, 9002)
    yield _inference_set(stamp)
    yield _workspace(stamp)
    yield _model_pod(since)
    yield _inference_pool(stamp)
    yield _http_route(stamp)


def _object(api_version: str, kind: str, name: str, labels: dict[str, str], **rest: Json) -> Json:
    meta = {"name": name, "namespace": TEAM, "labels": labels, "generation": 1}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **rest}


def _condition(kind: str, reason: str, stamp: str, message: str = "") -> Json:
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "observedGeneration": 1,
        "lastTransitionTime": stamp,
    }


def _gateway_class(stamp: str) -> Json:
    return {
        "apiVersion": f"{_GATEWAY_GROUP}/v1",
        "kind": "GatewayClass",
        "metadata": {"name": "istio", "generation": 1},
        "spec": {"controllerName": "istio.io/gateway-controller"},
        "status": {
            "conditions": [
                _condition("Accepted", "Accepted", stamp, "Handled by Istio controller")
            ]
        },
    }


def _gateway(stamp: str) -> Json:
    listener = {"name": "http", "port": 80, "protocol": "HTTP"}
    conflicted = {**_condition("Conflicted", "NoConflicts", stamp), "status": "False"}
    service = f"{GATEWAY}-istio.{TEAM}.svc.cluster.local:80"
    return _object(
        f"{_GATEWAY_GROUP}/v1", "Gateway", GATEWAY, _HARNESS_LABELS,
        spec={"gatewayClassName": "istio", "listeners": [listener]},
        status={
            "addresses": [{"type": "IPAddress", "value": "10.0.4.7"}],
            "conditions": [
                _condition("Accepted", "Accepted", stamp, "Resource accepted"),
                _condition(
                    "Programmed", "Programmed", stamp,
                    f"Resource programmed, assigned to service(s) {service}",
                ),
            ],
            "listeners": [
                {
                    "name": "http",
                    "attachedRoutes": 1,
                    "supportedKinds": [{"group": _GATEWAY_GROUP, "kind": "HTTPRoute"}],
                    "conditions": [
                        _condition("Accepted", "Accepted", stamp),
                        conflicted,
                        _condition("Programmed", "Programmed", stamp),
                        _condition("ResolvedRefs", "ResolvedRefs", stamp),
                    ],
                }
            ],
        },
    )  # fmt: skip


def _envoy_filter(name: str, *patches: Json) -> Json:
    gateway = {"gateway.networking.k8s.io/gateway-name": GATEWAY}
    return _object(
        "networking.istio.io/v1alpha3", "EnvoyFilter", name, _HARNESS_LABELS,
        spec={"workloadSelector": {"labels": gateway}, "configPatches": list(patches)},
    )  # fmt: skip


def _ext_authz_patch() -> Json:
    """Build the patch that makes Envoy ask gateway auth about each request."""
    cluster = "outbound|9001||apikey-authz.llm-gateway-auth.svc.cluster.local"
    config = {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
        "grpc_service": {"envoy_grpc": {"cluster_name": cluster}},
    }
    value = {"name": "envoy.filters.http.ext_authz", "typed_config": config}
    return {
        "applyTo": "HTTP_FILTER",
        "match": {"context": "GATEWAY"},
        "patch": {"operation": "INSERT_FIRST", "value": value},
    }


def _api_key(stamp: str) -> Json:
    return _object(
        "kaito.sh/v1alpha1", "APIKey", "default", _HARNESS_LABELS,
        spec={"expiresIn": "720h", "prefix": "sk-"},
        status={
            "phase": "Active",
            "conditions": [_condition("Ready", "Synced", stamp)],
            "secretRef": {"name": "llm-api-key"},
        },
    )  # fmt: skip


def _service(name: str, selector: dict[str, str], port: int) -> Json:
    spec = {"selector": selector, "ports": [{"port": port, "protocol": "TCP", "targetPort": port}]}
    return _object("v1", "Service", name, selector, spec=spec)


def _inference_set(stamp: str) -> Json:
    return _object(
        "kaito.sh/v1beta1", "InferenceSet", MODEL, {},
        spec={
            "replicas": 1,
            "labelSelector": {"matchLabels": {"apps": MODEL}},
            "template": {
                "resource": {"instanceType": "Standard_NV36ads_A10_v5"},
                "inference": {"preset": {"name": "qwen2.5-coder-7b-instruct"}},
            },
        },
        status={
            "replicas": 1,
            "readyReplicas": 1,
            "conditions": [
                _condition("InferenceSetReady", "inferencesetReady", stamp, "inferenceset is ready")
            ],
        },
    )  # fmt: skip


def _workspace(stamp: str) -> Json:
    conditions = (
        ("NodeClaimReady", "NodeClaimReady"),
        ("NodesReady", "NodesReady"),
        ("ResourceReady", "workspaceResourceStatusSuccess"),
        ("InferenceReady", "WorkspaceInferenceStatusSuccess"),
        ("WorkspaceSucceeded", "workspaceSucceeded"),
    )
    labels = {
        "inferenceset.kaito.sh/created-by": MODEL,
        "apps": MODEL,
        "kaito.sh/owned-by": "modeldeployment",
    }
    return _object(
        "kaito.sh/v1beta1", "Workspace", WORKSPACE, labels,
        resource={"instanceType": "Standard_NV36ads_A10_v5", "labelSelector": {"matchLabels": {"apps": MODEL}}},
        inference={"preset": {"name": "qwen2.5-coder-7b-instruct"}},
        status={
            "state": "Ready",
            "targetNodeCount": 1,
            "workerNodes": [NODE],
            "conditions": [_condition(kind, reason, stamp) for kind, reason in conditions],
        },
    )  # fmt: skip


def _model_pod(since: datetime) -> Json:
    labels = {**_WORKSPACE_LABELS, "apps.kubernetes.io/pod-index": "0"}
    containers = [{"name": WORKSPACE, "image": "example/vllm:1"}]
    pod = _object(
        "v1", "Pod", f"{WORKSPACE}-0", labels, spec={"nodeName": NODE, "containers": containers}
    )
    return {**pod, "status": running_status(pod, since)}


def _parents_status(stamp: str, *, controller: str = "", group: str = _GATEWAY_GROUP) -> Json:
    reference = {"group": group, "kind": "Gateway", "name": GATEWAY, "namespace": TEAM}
    conditions = [
        _condition("Accepted", "Accepted", stamp),
        _condition("ResolvedRefs", "ResolvedRefs", stamp),
    ]
    named = {"controllerName": controller} if controller else {}
    return {"parents": [{**named, "parentRef": reference, "conditions": conditions}]}


def _inference_pool(stamp: str) -> Json:
    selector = {"inferenceset.kaito.sh/created-by": MODEL, "apps.kubernetes.io/pod-index": "0"}
    picker = {"kind": "Service", "name": EPP, "port": {"number": 9002}, "failureMode": "FailClose"}
    return _object(
        "inference.networking.k8s.io/v1", "InferencePool", POOL, _MODEL_LABELS,
        spec={
            "selector": {"matchLabels": selector},
            "targetPorts": [{"number": 5000}],
            "endpointPickerRef": picker,
        },
        status=_parents_status(stamp, group="networking.istio.io"),
    )  # fmt: skip


def _http_route(stamp: str) -> Json:
    backend = {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": POOL}
    header = {"name": "X-Gateway-Model-Name", "value": MODEL}
    return _object(
        f"{_GATEWAY_GROUP}/v1", "HTTPRoute", f"{MODEL}-route", _MODEL_LABELS,
        spec={
            "parentRefs": [{"group": _GATEWAY_GROUP, "kind": "Gateway", "name": GATEWAY}],
            "rules": [{"matches": [{"headers": [header]}], "backendRefs": [backend]}],
        },
        status=_parents_status(stamp, controller="istio.io/gateway-controller"),
    )  # fmt: skip
