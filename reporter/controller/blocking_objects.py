"""
The objects that subjects wait for: one for each subject that may still become Current by itself.
"""

from collections.abc import Iterator

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import PODS
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES
from reporter.model.states import Actionability, State
from reporter.model.subjects import is_qualified
from reporter.model.verdicts import ObjectRef
from reporter.resources.inference_sets import is_serving, pods_of_workspace, without_leftover_pods
from reporter.rollup import records


def find_blocking_objects(rollup: records.RollUp) -> Iterator[ObjectRef]:
    """Yield the object that blocks each subject which is InProgress, or Failed and transient."""
    if rollup.cluster is not None:
        yield from _of_cluster(rollup.cluster)
    for name, record in rollup.namespaces.items():
        yield from _of_namespace(name, record)


def _is_waited_for(subject_state: records.SubjectState) -> bool:
    if subject_state.state is State.IN_PROGRESS:
        return True
    blocker = subject_state.blocker
    return (
        subject_state.state is State.FAILED
        and blocker is not None
        and blocker.actionability is Actionability.TRANSIENT
    )


def _of_cluster(record: records.ClusterRecord) -> Iterator[ObjectRef]:
    subject_state = record.subject_state
    if not _is_waited_for(subject_state) or subject_state.blocker is None:
        return
    if subject_state.blocker.object is not None:
        yield subject_state.blocker.object
        return
    for each in record.components:
        if each.state is State.IN_PROGRESS:
            yield DEPLOYMENTS.ref(each.namespace, each.name)


def _of_namespace(name: str, record: records.NamespaceRecord) -> Iterator[ObjectRef]:
    # The groups hold those subjects alone that something blocks; "" is the harness.
    for group in record.groups.values():
        for member, blocker in group.items():
            subject_state = record.sets[member].subject_state if member else record.harness
            if not _is_waited_for(subject_state):
                continue
            if blocker.object is not None and (blocker.is_pointer or not member):
                yield blocker.object
            elif not member:
                continue
            elif not is_qualified(member):
                yield _of_set(name, member, record.counted[member], blocker.object)
            elif blocker.object is not None:
                yield blocker.object


def _of_set(
    namespace: str, name: str, counted: records.CountedObjects, cause: ObjectRef | None
) -> ObjectRef:
    """
    Return what an InferenceSet waits for: of a replica its first pod that is not Ready.

    KAITO reports a replica as ready only when its pods are.
    """
    inference_set = INFERENCE_SETS.ref(namespace, name)
    for each in counted.workspaces or ():
        pods = without_leftover_pods(pods_of_workspace(counted.pods or (), each))
        ref = WORKSPACES.ref_to(each)
        if cause == ref or (cause is None and not is_serving(each, pods)):
            return next((PODS.ref_to(pod) for pod in pods if not pod.is_ready), ref)
    return cause or inference_set
