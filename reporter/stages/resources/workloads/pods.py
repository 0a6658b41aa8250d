"""The pods of a workload that count: neither going, nor done, nor left behind."""

from collections.abc import Iterable
from datetime import UTC, datetime

from reporter.model.kinds.core.pods import Pod
from reporter.stages.resources.existence import is_deleting


LEFTOVER_REASONS = frozenset({"Evicted", "NodeLost", "Terminated", "NodeShutdown", "Preempting"})
"""
Reasons of failed pods that stay behind until the pod garbage collector removes them.

They match the workload's selector for hours after their replacement runs.
"""

MIN_TIME = datetime.min.replace(tzinfo=UTC)


def created_at(pod: Pod) -> datetime:
    return pod.metadata.creation_timestamp or MIN_TIME


def filter_active_pods(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """
    Return the pods of a Deployment that count.

    A ReplicaSet replaces every failed pod. A failed pod that is older than another pod has therefore
    been replaced already, whatever the reason of its failure was.
    """
    remaining = [pod for pod in pods if not is_leftover_pod(pod)]
    youngest = max(map(created_at, remaining), default=MIN_TIME)
    return tuple(p for p in remaining if p.status.phase != "Failed" or created_at(p) == youngest)


def counts_as_failure(pod: Pod) -> bool:
    """Return whether a pod failed and another one is to take its place."""
    return pod.status.phase == "Failed" and not _is_of_job(pod) and not is_deleting(pod)


def is_leftover_pod(pod: Pod) -> bool:
    """Return whether a pod does not count: being deleted, done, evicted, or of a Job."""
    status = pod.status
    return (
        pod.metadata.deletion_timestamp is not None
        or status.phase == "Succeeded"
        or (status.phase == "Failed" and status.reason in LEFTOVER_REASONS)
        or _is_of_job(pod)
    )


def _is_of_job(pod: Pod) -> bool:
    return "Job" in [owner.kind for owner in pod.metadata.owner_references or ()]
