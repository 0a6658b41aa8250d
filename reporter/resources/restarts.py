"""Containers and pods that fail again and again: how often within some time, as far as it is known."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from msgspec import Struct

from reporter.kinds.core import Pod, was_ready
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import sanitize, truncate_bytes
from reporter.resources.conditions import MAX_REASON_BYTES
from reporter.resources.pods import (
    MIN_TIME,
    STORAGE_LIMIT,
    PodProblem,
    counts_as_failure,
    created_at,
    failure_code,
)
from reporter.snapshot.pod_runs import FAILED, ContainerRestarts, FailedPods, is_taken


# --------------------------------------------------------------------
# The number of a container's restarts within some time, as far as it is known.


CLOCK_TOLERANCE = timedelta(minutes=1)
"""
Time that the clock of a node may be ahead of the API server's. A later time is taken for unknown.
"""


class RestartCount(Struct, frozen=True):
    """
    The restarts within a window: no fewer than *least*, and no more than *most*.

    *span*: the time in which the *least* were.
    """

    least: int
    most: int
    span: timedelta = timedelta(0)


def count_restarts(
    restarts: ContainerRestarts,
    *,
    since: datetime,
    now: datetime,
    pod_started_at: datetime | None,
) -> RestartCount:
    """
    Count the restarts after *since*. Those that nobody saw count as the first after the pod's start.
    """
    times = [at for at in restarts.times if at <= now + CLOCK_TOLERANCE]
    inside = [at for at in times if at > since]
    unknown = len(restarts.times) - len(times)
    if len(inside) == len(times):
        if pod_started_at is not None and pod_started_at > since and restarts.unseen:
            inside = [pod_started_at] * restarts.unseen + inside
        else:
            unknown += restarts.unseen
    span = max(inside) - min(inside) if inside else timedelta(0)
    return RestartCount(len(inside), len(inside) + unknown, span)


# --------------------------------------------------------------------
# Pods that fail again and again, such as those that the kubelet of a node under pressure refuses.
#
# Each of them is being replaced, but its successors fail as well. Sources: kubelet (pkg/kubelet/eviction,
# pkg/kubelet/lifecycle/predicate.go, pkg/kubelet/cm/admission) and KEP-2000 for node shutdown.


MIN_FAILURES = 2
"""
The failures from which on it is a trouble of its own. A single one is an eviction like any other.
"""

REPLACED_WITHIN = timedelta(minutes=20)
"""
The time within which a ReplicaSet replaces a failed pod, also if its creation is refused at first.

The controller's back-off grows to some 17 minutes (kubernetes, DefaultControllerRateLimiter).
"""


FILLED_AGAIN_WITHIN = timedelta(minutes=10)
"""The time within which a pod fills its storage again; as long as kubelet remembers a crash."""


def find_repeated_failure(
    name: str, failures: FailedPods | None, present: Pod | None
) -> PodProblem | None:
    """
    Return the problem of pods that failed one after the other.

    None for fewer than MIN_FAILURES, and while the next attempt may succeed. *present*: the pod of that
    attempt, which has not failed; None without one.
    """
    if failures is None or failures.count < MIN_FAILURES:
        return None
    code = failure_code(failures.reason, failures.message)
    # A pod that fills its own storage does so on any node, and is Ready until it has.
    if code != STORAGE_LIMIT and _is_another_attempt(present, failures):
        return None
    reason = truncate_bytes(sanitize(failures.reason), MAX_REASON_BYTES)
    where = f", last on node {failures.node}" if failures.node else ""
    return PodProblem(
        name,
        TroubleKind.FAILED,
        code,
        f"{reason} {failures.count} times{where}",
        foreign_text=failures.message,
        is_crash=code == STORAGE_LIMIT,
    )


def _is_another_attempt(present: Pod | None, failures: FailedPods) -> bool:
    """
    Return whether a pod waits for the scheduler, or gets further than the last one.

    It tries another node, or a kubelet has taken it that refused the last one: after its node has
    started, a kubelet refuses pods until the device plugin of its GPUs has registered.
    """
    if present is None:
        return False
    if failures.was_refused and is_taken(present):
        return True
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
    # Of several that were created in one second, always name the same one.
    newest = max(failed, key=lambda pod: (created_at(pod), pod.metadata.name))
    # Those that were Ready until then came to an end first, and the others took their places.
    first = [pod for pod in pods if counts_as_failure(pod) and _ended_after(pod, since)]
    return FailedPods.ending_with(newest, len(failed) + len(first))


def count_storage_evictions(pods: Sequence[Pod]) -> FailedPods | None:
    """
    Return the pods of a Deployment that filled their own storage one soon after the other.

    Each may have been Ready before; that ends nothing, as the next one fills it too.
    """
    evicted = sorted(
        (pod for pod in pods if counts_as_failure(pod) and _filled_its_storage(pod)),
        key=lambda pod: (_ended_at(pod), pod.metadata.name),
        reverse=True,
    )
    if not evicted:
        return None
    count = 1
    for later, earlier in pairwise(evicted):
        if _ended_at(later) - _ended_at(earlier) > FILLED_AGAIN_WITHIN:
            break
        count += 1
    return FailedPods.ending_with(evicted[0], count)


def _filled_its_storage(pod: Pod) -> bool:
    return failure_code(pod.status.reason or "", pod.status.message or "") == STORAGE_LIMIT


def _ended_at(pod: Pod) -> datetime:
    """Return the newest time in the conditions of a pod that has failed; else when it was created."""
    changes = (condition.last_transition_time for condition in pod.status.conditions or ())
    return max([created_at(pod), *(each for each in changes if each is not None)])


def _ended_after(pod: Pod, since: datetime) -> bool:
    """Return whether a pod was Ready until a time after *since*."""
    ready = pod.status.condition("Ready")
    ended = ready.last_transition_time if ready is not None else None
    return was_ready(pod) and ended is not None and ended > since


def is_restart(failed: Pod, successor: Pod) -> bool:
    """
    Return whether a pod was created long after one failed: not in its place but in a later one's.

    A ReplicaSet replaces a failed pod at once, and leaves it behind for days.
    """
    return created_at(successor) - _ended_at(failed) > REPLACED_WITHIN


def find_successor(failed: Pod, pods: Sequence[Pod]) -> Pod | None:
    """
    Return the pod that took the place of a failed one or still may; None without one.

    It is the one that was created nearest to the end of the failed one: others that came since take other
    places. Of several as near, one that was Ready, so that each of them is judged by itself.
    """

    def order(pod: Pod) -> tuple[timedelta, bool]:
        return abs(created_at(pod) - _ended_at(failed)), not (pod.is_ready or was_ready(pod))

    present = (
        pod for pod in pods if pod.status.phase != FAILED and created_at(pod) >= created_at(failed)
    )
    return min(present, key=order, default=None)
