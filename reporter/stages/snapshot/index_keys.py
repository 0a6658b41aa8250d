"""
By what objects are found other than by name: the index keys of each kind.
"""

from collections.abc import Callable, Mapping

from reporter.model.kinds.gateway_api import HTTPRoute
from reporter.model.kinds.keda import ScaledObject
from reporter.model.kinds.node_claims import NodeClaim
from reporter.model.kinds.objects import ApiObject
from reporter.model.kinds.resource_kinds import (
    API_KEYS,
    AUTHORIZATION_POLICIES,
    DEPLOYMENTS,
    ENVOY_FILTERS,
    GATEWAYS,
    HTTP_ROUTES,
    INFERENCE_POOLS,
    NODE_CLAIMS,
    PODS,
    SCALED_OBJECTS,
    WORKSPACES,
)
from reporter.stages.snapshot.loading import is_loading
from reporter.stages.snapshot.subjects import (
    CREATED_BY_LABEL,
    GATEWAY_NAME_LABEL,
    INFERENCE_SET_LABEL,
)


COMPONENT_LABELS = ("app", "app.kubernetes.io/name", "app.kubernetes.io/component")
"""
The labels by which charts name a component; a Deployment is looked for by these in any namespace.
"""


def name_key(name: str) -> str:
    return f"name={name}"


def label_key(label: str, value: str) -> str:
    return f"{label}={value}"


def workload_key(namespace: str, workload: str) -> str:
    return f"{namespace}/{workload}"


def gateway_key(namespace: str, gateway: str) -> str:
    return f"{namespace}/{gateway}"


def namespace_key(namespace: str) -> str:
    return f"{namespace}/"


def inference_set_key(namespace: str, inference_set: str) -> str:
    return f"model={namespace}/{inference_set}"


def workspace_key(namespace: str, workspace: str) -> str:
    return f"workspace={namespace}/{workspace}"


def backend_pool_key(namespace: str, pool: str) -> str:
    """
    Routes that lead to an InferencePool.
    """
    return f"backend={namespace}/{pool}"


def loading_pods_key(namespace: str) -> str:
    """
    Pods that may be loading a model.
    """
    return f"loading={namespace}"


def workload_name(pod: ApiObject) -> str:
    """
    The Deployment (or other controller) that a pod belongs to.

    A ReplicaSet is named ``<deployment>-<pod-template-hash>`` and labels its pods with that hash
    (kubernetes, pkg/controller/deployment/sync.go), so no right to read ReplicaSets is needed.
    """
    for owner in pod.metadata.owner_references or ():
        if owner.controller:
            suffix = "-" + pod.metadata.label("pod-template-hash")
            return owner.name.removesuffix(suffix) if owner.kind == "ReplicaSet" else owner.name
    return ""


def _pod_keys(pod: ApiObject) -> tuple[str, ...]:
    meta, owner = pod.metadata, workload_name(pod)
    model = meta.label(CREATED_BY_LABEL)
    return (
        *((workload_key(meta.namespace, owner),) if owner else ()),
        *((inference_set_key(meta.namespace, model),) if model else ()),
        *((loading_pods_key(meta.namespace),) if is_loading(pod) else ()),
    )


def _deployment_keys(deployment: ApiObject) -> tuple[str, ...]:
    meta, labels = deployment.metadata, deployment.metadata.labels or {}
    gateway = labels.get(GATEWAY_NAME_LABEL)
    return (
        name_key(meta.name),
        *(label_key(key, labels[key]) for key in COMPONENT_LABELS if key in labels),
        *((gateway_key(meta.namespace, gateway),) if gateway else ()),
        *_inference_set_keys(deployment),
    )


def _inference_set_keys(each: ApiObject) -> tuple[str, ...]:
    """
    By the label of KAITO or of the modeldeployment chart.
    """
    model = each.metadata.label(CREATED_BY_LABEL) or each.metadata.label(INFERENCE_SET_LABEL)
    return (inference_set_key(each.metadata.namespace, model),) if model else ()


def _route_keys(route: ApiObject) -> tuple[str, ...]:
    namespace = route.metadata.namespace
    rules = (route.spec.rules or ()) if isinstance(route, HTTPRoute) else ()
    backends = {
        backend_pool_key(backend.namespace or namespace, backend.name)
        for rule in rules
        for backend in rule.backend_refs or ()
        if backend.kind == INFERENCE_POOLS.kind
    }
    return (*_namespace_keys(route), *_inference_set_keys(route), *sorted(backends))


def _node_claim_keys(claim: ApiObject) -> tuple[str, ...]:
    namespace, name = claim.workspace if isinstance(claim, NodeClaim) else ("", "")
    return (workspace_key(namespace, name),) if name else ()


def _scaled_object_keys(scaled: ApiObject) -> tuple[str, ...]:
    """
    By the InferenceSet that it scales.
    """
    name = scaled.spec.inference_set if isinstance(scaled, ScaledObject) else ""
    return (inference_set_key(scaled.metadata.namespace, name),) if name else ()


def _namespace_keys(each: ApiObject) -> tuple[str, ...]:
    return (namespace_key(each.metadata.namespace),)


def no_index_keys(_: ApiObject) -> tuple[str, ...]:
    return ()


INDEX_FUNCS: Mapping[str, Callable[[ApiObject], tuple[str, ...]]] = {
    PODS.resource: _pod_keys,
    DEPLOYMENTS.resource: _deployment_keys,
    GATEWAYS.resource: _namespace_keys,
    HTTP_ROUTES.resource: _route_keys,
    INFERENCE_POOLS.resource: _inference_set_keys,
    WORKSPACES.resource: _inference_set_keys,
    ENVOY_FILTERS.resource: _namespace_keys,
    API_KEYS.resource: _namespace_keys,
    AUTHORIZATION_POLICIES.resource: _namespace_keys,
    NODE_CLAIMS.resource: _node_claim_keys,
    SCALED_OBJECTS.resource: _scaled_object_keys,
}
