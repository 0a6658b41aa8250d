"""
The objects of one InferenceSet, each found by an index.

The cost of a lookup depends on the size of this set, not on the number of sets.
"""

from collections.abc import Iterable, Sequence

from reporter.kinds.core import PODS, Pod, workload_name
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES, InferenceSet, Workspace
from reporter.kinds.objects import find_condition, inference_set_key
from reporter.model.subjects import Subject
from reporter.resources.conditions import is_condition_true
from reporter.resources.pods import is_leftover_pod
from reporter.snapshot.snapshot import Snapshot


WORKSPACE_LABEL = "kaito.sh/workspace"
"""
The label of a Workspace's pods (KAITO, api/v1beta1/labels.go). Their StatefulSet has its name.
"""


OWNED_BY_LABEL = ("kaito.sh/owned-by", "modeldeployment")
"""The label that the modeldeployment chart sets on what it creates."""


def get_inference_set(snapshot: Snapshot, subject: Subject) -> InferenceSet | None:
    """Return the InferenceSet that a subject is; None if it does not exist."""
    return snapshot.get(INFERENCE_SETS, InferenceSet, subject.namespace, subject.name)


def is_of_chart(snapshot: Snapshot, subject: Subject) -> bool:
    """
    Return whether the modeldeployment chart made an InferenceSet, with a route, a pool and a picker.

    The chart labels the template from which KAITO makes the Workspaces (templates/inferenceset.yaml).
    """
    key = inference_set_key(subject.namespace, subject.name)
    objects = (
        get_inference_set(snapshot, subject),
        *snapshot.by_index(WORKSPACES, Workspace, key),
    )
    label, value = OWNED_BY_LABEL
    return any(each is not None and each.metadata.label(label) == value for each in objects)


def find_workspaces(snapshot: Snapshot, subject: Subject) -> tuple[Workspace, ...]:
    """
    Return the Workspaces of an InferenceSet, one for each replica, without those being deleted.

    KAITO does not update the other conditions of a Workspace once it is being deleted.
    """
    workspaces = snapshot.by_index(
        WORKSPACES, Workspace, inference_set_key(subject.namespace, subject.name)
    )
    return tuple([each for each in workspaces if not _is_being_removed(each)])


def _is_being_removed(workspace: Workspace) -> bool:
    return workspace.metadata.deletion_timestamp is not None or is_condition_true(
        find_condition(workspace.status.conditions, "WorkspaceDeleting")
    )


def find_model_pods(snapshot: Snapshot, subject: Subject) -> tuple[Pod, ...]:
    """Return all pods of an InferenceSet, leftover pods included."""
    return snapshot.by_index(PODS, Pod, inference_set_key(subject.namespace, subject.name))


def pods_of_workspace(pods: Iterable[Pod], workspace: Workspace) -> tuple[Pod, ...]:
    """
    Return the pods of one Workspace, by their label or, where KAITO set none, by their StatefulSet.
    """
    name = workspace.metadata.name
    return tuple(
        [p for p in pods if p.metadata.label(WORKSPACE_LABEL) == name or workload_name(p) == name]
    )


def without_leftover_pods(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """
    Exclude pods that are being deleted or stay behind after an eviction.

    Unlike a ReplicaSet's, a failed pod of a StatefulSet counts: no other pod takes its place.
    """
    return tuple([pod for pod in pods if not is_leftover_pod(pod)])


def is_serving(workspace: Workspace, pods: Sequence[Pod]) -> bool:
    """
    Return whether every pod is Ready and none is missing.

    InferenceReady=True alone does not count: old KAITO releases keep it while pods crash. Nor does
    its False: KAITO reports pending whenever a NodeClaim changes, although the pods serve on
    (pkg/workspace/controllers/workspace_controller.go). It only replaces the count of nodes.
    """
    unready = [pod for pod in pods if not pod.is_ready]
    if unready or not pods:
        return False
    return len(pods) >= workspace.status.target_node_count or is_condition_true(
        find_condition(workspace.status.conditions, "InferenceReady")
    )
