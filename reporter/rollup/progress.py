"""
The progress of an InferenceSet: replicas desired, updated and ready, and the generation acted on.
"""

from collections.abc import Iterable

from reporter.kinds.core import PODS, Pod
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES, InferenceSet, Workspace
from reporter.kinds.objects import find_condition, inference_set_key
from reporter.model.status_document import Replicas
from reporter.model.subjects import Subject
from reporter.resources.inference_sets import (
    find_workspaces,
    is_serving,
    pods_of_workspace,
    without_leftover_pods,
)
from reporter.resources.replicas import is_rolling_out, upgrade_started_at
from reporter.rollup.records import CountedObjects, ReplicaProgress
from reporter.snapshot.snapshot import Snapshot


OF_ANOTHER_KIND = ReplicaProgress(has_replicas=False)
"""The progress of a subject of another kind: its reasons tell all that is known of it."""

NOTHING_COUNTED = CountedObjects()


def find_counted(
    snapshot: Snapshot, subject: Subject, before: CountedObjects | None
) -> CountedObjects:
    """Return the objects of an InferenceSet; *before* itself if none of them has changed."""
    if subject.kind:
        return NOTHING_COUNTED
    key = inference_set_key(subject.namespace, subject.name)
    inference_set = workspaces = pods = None
    # With a catalogue that does not read a kind, it is not watched.
    if INFERENCE_SETS.resource in snapshot.tables:
        inference_set = snapshot.peek(
            INFERENCE_SETS, InferenceSet, subject.namespace, subject.name
        )
    if WORKSPACES.resource in snapshot.tables and PODS.resource in snapshot.tables:
        workspaces = snapshot.by_index(WORKSPACES, Workspace, key)
        pods = snapshot.by_index(PODS, Pod, key)
    if (
        before is not None
        and before.inference_set is inference_set
        and before.workspaces is workspaces
        and before.pods is pods
    ):
        return before
    return CountedObjects(inference_set, workspaces, pods)


def count_progress(
    snapshot: Snapshot, subject: Subject, counted: CountedObjects
) -> ReplicaProgress:
    """
    Return the replicas of an InferenceSet that are desired, updated and ready, and its generations.

    Replicas that nobody reports are None. *counted*: the objects of the InferenceSet, as
    *find_counted* returns them.
    """
    if subject.kind:
        return OF_ANOTHER_KIND
    inference_set = counted.inference_set
    if inference_set is None:
        return ReplicaProgress()
    desired, status = inference_set.desired_replicas, inference_set.status
    condition = find_condition(status.conditions, "InferenceSetReady")
    # Some controllers do not set it; 0 proves nothing.
    observed = condition.observed_generation if condition is not None else 0
    generation = inference_set.metadata.generation
    ready, upgrading = status.ready_replicas, 0
    if counted.workspaces is not None and counted.pods is not None:
        workspaces = find_workspaces(snapshot, subject)
        ready = sum(_serves(each, counted.pods) for each in workspaces)
        upgrading = sum(_is_upgrading(each, counted.pods) for each in workspaces)
    drifted = status.auto_upgrade.num_drifted_workspaces if status.auto_upgrade else None
    updated = None if drifted is None else max(desired - drifted - upgrading, 0)
    return ReplicaProgress(
        replicas=Replicas(desired=desired, updated=updated, ready=ready),
        observed_generation=observed or None,
        generation=generation or None,
        is_stale=0 < observed < generation,
    )


def _serves(workspace: Workspace, pods: Iterable[Pod]) -> bool:
    return is_serving(workspace, without_leftover_pods(pods_of_workspace(pods, workspace)))


def _is_upgrading(workspace: Workspace, pods: Iterable[Pod]) -> bool:
    """Return whether an upgrade in place is under way: some pod is still of the version before."""
    started = upgrade_started_at(workspace)
    if started is None:
        return False
    own = without_leftover_pods(pods_of_workspace(pods, workspace))
    return is_rolling_out(own) or any(
        pod.metadata.creation_timestamp is not None and pod.metadata.creation_timestamp < started
        for pod in own
    )
