"""
What belongs to one InferenceSet, found by index: a look costs no more than what it has.
"""

from collections.abc import Iterable, Sequence

from reporter.model.kaito_objects import InferenceSet, Workspace
from reporter.model.kinds import INFERENCE_SETS, PODS, WORKSPACES, ResourceKind
from reporter.model.objects import ApiObject, Pod, condition
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.stages.deployments import Stale
from reporter.stages.indexes import by_model, workload
from reporter.stages.loading import POD_INDEX
from reporter.stages.pods import left_behind
from reporter.stages.ruling import undecoded
from reporter.stages.snapshot import Snapshot


WORKSPACE = "kaito.sh/workspace"
"""
By this label KAITO marks the pods of a Workspace, whose StatefulSet has the Workspace's name.
"""


def inference_set(snapshot: Snapshot, subject: Subject) -> InferenceSet | None:
    return snapshot.get(INFERENCE_SETS, InferenceSet, subject.namespace, subject.name)


def workspaces(snapshot: Snapshot, subject: Subject) -> tuple[Workspace, ...]:
    """
    One for each replica; without those on their way out, whose other conditions stay as they were.
    """
    found = snapshot.find(WORKSPACES, Workspace, by_model(subject.namespace, subject.name))
    return tuple(each for each in found if not _is_going(each))


def _is_going(workspace: Workspace) -> bool:
    deleting = condition(workspace.status.conditions, "WorkspaceDeleting")
    return workspace.metadata.deletion_timestamp is not None or (
        deleting is not None and deleting.status == "True"
    )


def model_pods(snapshot: Snapshot, subject: Subject) -> tuple[Pod, ...]:
    """
    All of them, those that do not count as well.
    """
    return snapshot.find(PODS, Pod, by_model(subject.namespace, subject.name))


def of_workspace(pods: Iterable[Pod], workspace: Workspace) -> tuple[Pod, ...]:
    name = workspace.metadata.name
    return tuple(p for p in pods if name in {p.metadata.label(WORKSPACE), workload(p)})


def counted(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """
    Without those on their way out and what is left behind; each pod of a StatefulSet is one of its kind.
    """
    return tuple(pod for pod in pods if not left_behind(pod))


def serves(workspace: Workspace, pods: Sequence[Pod]) -> bool:
    """
    Whether every pod that counts is Ready, and KAITO does not miss one.

    KAITO's own word is not asked for otherwise: it takes Ready pods for pending while a NodeClaim
    changes, and in older releases crashing ones for ready.
    """
    ready = condition(workspace.status.conditions, "InferenceReady")
    stated = ready is not None and ready.status == "True"
    return (
        bool(pods)
        and all(pod.ready for pod in pods)
        and (stated or len(pods) >= workspace.status.target_node_count)
    )


def leads(pod: Pod) -> bool:
    """
    Whether it takes requests; the other pods of a replica that spans several nodes have no server.

    Before Kubernetes 1.28 only the name tells.
    """
    index = pod.metadata.label(POD_INDEX) or pod.metadata.name.rpartition("-")[2]
    return index == "0" or not index.isdecimal()


def reference(workspace: Workspace) -> ObjectRef:
    meta = workspace.metadata
    return ObjectRef(WORKSPACES.qualified, meta.namespace, meta.name)


def unread(
    snapshot: Snapshot, kind: ResourceKind, subject: Subject, known: Iterable[ApiObject]
) -> Stale | None:
    """
    That an object of the set could not be decoded, or one whose name begins as those of the set do.
    """
    if not snapshot.spoilt:
        return None
    names = {each.metadata.name for each in known}
    for ref in sorted(snapshot.spoilt):
        if (ref.resource, ref.namespace) != (kind.qualified, subject.namespace):
            continue
        name = (ref.namespace, ref.name)
        unknown = snapshot.tables[kind.resource].objects.get(name) is None
        if ref.name in names or (unknown and ref.name.startswith(subject.name)):
            return undecoded(snapshot, kind, *name)
    return None
