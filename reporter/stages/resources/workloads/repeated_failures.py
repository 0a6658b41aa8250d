"""
Pods that fail again and again, such as those that the kubelet of a node under pressure refuses.

Each of them is being replaced, but its successors fail as well. Sources: kubelet (pkg/kubelet/eviction,
pkg/kubelet/lifecycle/predicate.go, pkg/kubelet/cm/admission) and KEP-2000 for node shutdown.
"""

from collections.abc import Sequence
from datetime import datetime

from reporter.model.enums import TroubleKind
from reporter.model.kinds.core.pods import Pod, was_ready
from reporter.stages.resources.workloads.pod_failure_codes import failure_code
from reporter.stages.resources.workloads.pod_problems import PodProblem
from reporter.stages.resources.workloads.pods import MIN_TIME, counts_as_failure, created_at
from reporter.stages.snapshot.failed_pods import FAILED, FailedPods
from reporter.stages.text.sanitize import sanitize, truncate_bytes


MIN_FAILURES = 2
"""
The failures from which on it is a trouble of its own. A single one is an eviction like any other.
"""

MAX_REASON_BYTES = 100


def find_repeated_failure(
    name: str, failures: FailedPods | None, present: Pod | None
) -> PodProblem | None:
    """
    Return the problem of pods that failed one after the other; None if there is hope for the next.

    *present*: the newest pod that has not failed, if there is one.
    """
    if failures is None or failures.count < MIN_FAILURES or _is_another_attempt(present, failures):
        return None
    reason = truncate_bytes(sanitize(failures.reason), MAX_REASON_BYTES)
    where = f", last on node {failures.node}" if failures.node else ""
    return PodProblem(
        name,
        TroubleKind.FAILED,
        failure_code(failures.reason),
        f"{reason} {failures.count} times{where}",
        foreign_text=failures.message,
    )


def _is_another_attempt(present: Pod | None, failures: FailedPods) -> bool:
    """
    Return whether a pod waits for the scheduler, or tries another node than the last one.
    """
    if present is None:
        return False
    scheduled = present.status.condition("PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        return True
    return present.spec.node_name not in {"", failures.node}


def count_failures(pods: Sequence[Pod]) -> FailedPods | None:
    """
    Return the failures of a Deployment's pods since the last one that was ever Ready.

    A ReplicaSet leaves failed pods behind and creates others with new names.
    """
    last_ready = max(
        (pod for pod in pods if pod.is_ready or was_ready(pod)), key=created_at, default=None
    )
    since = created_at(last_ready) if last_ready is not None else MIN_TIME
    failed = [pod for pod in pods if counts_as_failure(pod) and created_at(pod) > since]
    if not failed:
        return None
    newest = max(failed, key=created_at)
    # Those that were Ready until then came to an end first, and the others took their places.
    first = [pod for pod in pods if counts_as_failure(pod) and _ended_after(pod, since)]
    return FailedPods(
        count=len(failed) + len(first),
        uid=newest.metadata.uid,
        reason=newest.status.reason or FAILED,
        message=newest.status.message or "",
        node=newest.spec.node_name,
    )


def _ended_after(pod: Pod, since: datetime) -> bool:
    """
    Return whether a pod was Ready until a time after *since*.
    """
    ready = pod.status.condition("Ready")
    ended = ready.last_transition_time if ready is not None else None
    return was_ready(pod) and ended is not None and ended > since


def newest_not_failed(pods: Sequence[Pod]) -> Pod | None:
    """
    Return the newest pod that may still become Ready.
    """
    present = (pod for pod in pods if pod.status.phase != FAILED)
    return max(present, key=created_at, default=None)
