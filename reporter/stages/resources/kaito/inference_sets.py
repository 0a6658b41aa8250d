"""
What belongs to one InferenceSet, found by index: a look costs no more than what it has.
"""

from collections.abc import Iterable, Sequence

from reporter.model.kinds.base.conditions import find_condition
from reporter.model.kinds.base.keys import inference_set_key
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.pods import PODS, Pod, workload_name
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS, InferenceSet
from reporter.model.kinds.kaito.workspaces import WORKSPACES, Workspace
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.stages.resources.check_result import check_decoded
from reporter.stages.resources.workloads.deployments import Inconclusive
from reporter.stages.resources.workloads.pods import is_leftover_pod
from reporter.stages.snapshot.loading import POD_INDEX_LABEL
from reporter.stages.snapshot.snapshot import Snapshot


WORKSPACE_LABEL = "kaito.sh/workspace"
"""
By this label KAITO marks the pods of a Workspace, whose StatefulSet has the Workspace's name.
"""


def get_inference_set(snapshot: Snapshot, subject: Subject) -> InferenceSet | None:
    return snapshot.get(INFERENCE_SETS, InferenceSet, subject.namespace, subject.name)


def find_workspaces(snapshot: Snapshot, subject: Subject) -> tuple[Workspace, ...]:
    """
    One for each replica; without those on their way out, whose other conditions stay as they were.
    """
    found = snapshot.by_index(
        WORKSPACES, Workspace, inference_set_key(subject.namespace, subject.name)
    )
    return tuple(each for each in found if not _is_deleting(each))


def _is_deleting(workspace: Workspace) -> bool:
    deleting = find_condition(workspace.status.conditions, "WorkspaceDeleting")
    return workspace.metadata.deletion_timestamp is not None or (
        deleting is not None and deleting.status == "True"
    )


def find_model_pods(snapshot: Snapshot, subject: Subject) -> tuple[Pod, ...]:
    """
    All of them, those that do not count as well.
    """
    return snapshot.by_index(PODS, Pod, inference_set_key(subject.namespace, subject.name))


def pods_of_workspace(pods: Iterable[Pod], workspace: Workspace) -> tuple[Pod, ...]:
    name = workspace.metadata.name
    return tuple(p for p in pods if name in {p.metadata.label(WORKSPACE_LABEL), workload_name(p)})


def without_leftover_pods(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """
    Without those on their way out and what is left behind; each pod of a StatefulSet is one of its kind.
    """
    return tuple(pod for pod in pods if not is_leftover_pod(pod))


def is_serving(workspace: Workspace, pods: Sequence[Pod]) -> bool:
    """
    Whether every pod that counts is Ready, and KAITO does not miss one.

    KAITO's own word is not asked for otherwise: it takes Ready pods for pending while a NodeClaim
    changes, and in older releases crashing ones for ready.
    """
    ready = find_condition(workspace.status.conditions, "InferenceReady")
    stated = ready is not None and ready.status == "True"
    return (
        bool(pods)
        and all(pod.is_ready for pod in pods)
        and (stated or len(pods) >= workspace.status.target_node_count)
    )


def is_leader_pod(pod: Pod) -> bool:
    """
    Whether it takes requests; the other pods of a replica that spans several nodes have no server.

    Before Kubernetes 1.28 only the name tells.
    """
    index = pod.metadata.label(POD_INDEX_LABEL) or pod.metadata.name.rpartition("-")[2]
    return index == "0" or not index.isdecimal()


def workspace_ref(workspace: Workspace) -> ObjectRef:
    meta = workspace.metadata
    return ObjectRef(WORKSPACES.group_resource, meta.namespace, meta.name)


def check_all_decoded(
    snapshot: Snapshot, kind: ResourceKind, subject: Subject, known: Iterable[ApiObject]
) -> Inconclusive | None:
    """
    That an object of the set could not be decoded, or one whose name begins as those of the set do.
    """
    if not snapshot.undecodable:
        return None
    names = {each.metadata.name for each in known}
    for ref in sorted(snapshot.undecodable):
        if (ref.resource, ref.namespace) != (kind.group_resource, subject.namespace):
            continue
        name = (ref.namespace, ref.name)
        unknown = snapshot.tables[kind.resource].objects.get(name) is None
        if ref.name in names or (unknown and ref.name.startswith(subject.name)):
            return check_decoded(snapshot, kind, *name)
    return None
