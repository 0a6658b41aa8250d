"""
By what objects are found other than by name: the index keys of each kind.
"""

from collections.abc import Callable, Mapping

from reporter.model.kinds import DEPLOYMENTS, PODS
from reporter.model.objects import ApiObject


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
    owner = workload(pod)
    return (by_workload(pod.metadata.namespace, owner),) if owner else ()


def _of_deployment(deployment: ApiObject) -> tuple[str, ...]:
    labels = deployment.metadata.labels or {}
    return (
        by_name(deployment.metadata.name),
        *(by_label(key, labels[key]) for key in COMPONENT_LABELS if key in labels),
    )


def unindexed(_: ApiObject) -> tuple[str, ...]:
    return ()


INDEXES: Mapping[str, Callable[[ApiObject], tuple[str, ...]]] = {
    PODS.resource: _of_pod,
    DEPLOYMENTS.resource: _of_deployment,
}
