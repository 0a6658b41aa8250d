"""
By what objects are found other than by name: the index keys of each kind.
"""

from collections.abc import Callable, Mapping

from reporter.model.gateway_objects import HTTPRoute
from reporter.model.kinds import (
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
from reporter.model.node_objects import NodeClaim
from reporter.model.objects import ApiObject
from reporter.model.scaling_objects import ScaledObject
from reporter.stages.loading import is_loading
from reporter.stages.subjects import CREATED_BY, GATEWAY_NAME, INFERENCE_SET


COMPONENT_LABELS = ("app", "app.kubernetes.io/name", "app.kubernetes.io/component")
"""
The labels by which charts name a component; a Deployment is looked for by these in any namespace.
"""


def by_name(name: str) -> str:
    return f"name={name}"


def by_label(label: str, value: str) -> str:
    return f"{label}={value}"


def by_workload(namespace: str, workload: str) -> str:
    return f"{namespace}/{workload}"


def by_gateway(namespace: str, gateway: str) -> str:
    return f"{namespace}/{gateway}"


def in_namespace(namespace: str) -> str:
    return f"{namespace}/"


def by_model(namespace: str, inference_set: str) -> str:
    return f"model={namespace}/{inference_set}"


def by_workspace(namespace: str, workspace: str) -> str:
    return f"workspace={namespace}/{workspace}"


def by_backend(namespace: str, pool: str) -> str:
    """
    Routes that lead to an InferencePool.
    """
    return f"backend={namespace}/{pool}"


def loading_in(namespace: str) -> str:
    """
    Pods that may be loading a model.
    """
    return f"loading={namespace}"


def workload(pod: ApiObject) -> str:
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


def _of_pod(pod: ApiObject) -> tuple[str, ...]:
    meta, owner = pod.metadata, workload(pod)
    model = meta.label(CREATED_BY)
    return (
        *((by_workload(meta.namespace, owner),) if owner else ()),
        *((by_model(meta.namespace, model),) if model else ()),
        *((loading_in(meta.namespace),) if is_loading(pod) else ()),
    )


def _of_deployment(deployment: ApiObject) -> tuple[str, ...]:
    meta, labels = deployment.metadata, deployment.metadata.labels or {}
    gateway = labels.get(GATEWAY_NAME)
    return (
        by_name(meta.name),
        *(by_label(key, labels[key]) for key in COMPONENT_LABELS if key in labels),
        *((by_gateway(meta.namespace, gateway),) if gateway else ()),
        *_of_model(deployment),
    )


def _of_model(each: ApiObject) -> tuple[str, ...]:
    """
    By the label of KAITO or of the modeldeployment chart.
    """
    model = each.metadata.label(CREATED_BY) or each.metadata.label(INFERENCE_SET)
    return (by_model(each.metadata.namespace, model),) if model else ()


def _of_route(route: ApiObject) -> tuple[str, ...]:
    namespace = route.metadata.namespace
    rules = (route.spec.rules or ()) if isinstance(route, HTTPRoute) else ()
    backends = {
        by_backend(backend.namespace or namespace, backend.name)
        for rule in rules
        for backend in rule.backend_refs or ()
        if backend.kind == INFERENCE_POOLS.kind
    }
    return (*_of_namespaced(route), *_of_model(route), *sorted(backends))


def _of_claim(claim: ApiObject) -> tuple[str, ...]:
    namespace, name = claim.workspace if isinstance(claim, NodeClaim) else ("", "")
    return (by_workspace(namespace, name),) if name else ()


def _of_scaled(scaled: ApiObject) -> tuple[str, ...]:
    """
    By the InferenceSet that it scales.
    """
    name = scaled.spec.inference_set if isinstance(scaled, ScaledObject) else ""
    return (by_model(scaled.metadata.namespace, name),) if name else ()


def _of_namespaced(each: ApiObject) -> tuple[str, ...]:
    return (in_namespace(each.metadata.namespace),)


def unindexed(_: ApiObject) -> tuple[str, ...]:
    return ()


INDEXES: Mapping[str, Callable[[ApiObject], tuple[str, ...]]] = {
    PODS.resource: _of_pod,
    DEPLOYMENTS.resource: _of_deployment,
    GATEWAYS.resource: _of_namespaced,
    HTTP_ROUTES.resource: _of_route,
    INFERENCE_POOLS.resource: _of_model,
    WORKSPACES.resource: _of_model,
    ENVOY_FILTERS.resource: _of_namespaced,
    API_KEYS.resource: _of_namespaced,
    AUTHORIZATION_POLICIES.resource: _of_namespaced,
    NODE_CLAIMS.resource: _of_claim,
    SCALED_OBJECTS.resource: _of_scaled,
}
