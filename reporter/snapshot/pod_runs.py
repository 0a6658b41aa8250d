"""The earlier runs of a pod: failures of its predecessors of the same name, and lost runs of its containers."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds import core
from reporter.kinds.core import ContainerStatus, Pod
from reporter.model.times import EARLIEST_TIME


# --------------------------------------------------------------------
# The failures of a StatefulSet's pod, counted over its successors of the same name.
#
# A StatefulSet deletes a failed pod and creates it again (kubernetes, pkg/controller/statefulset), so
# the pods that exist show the last failure at most.


FAILED = "Failed"
STATEFUL_SET = "StatefulSet"


class FailedPods(Struct, frozen=True, gc=False):
    """
    The failures of the pods of one name since one of them was Ready.

    *uid*: the pod that failed last, with *reason* and *message* of its status and its *node*.
    *was_refused*: the kubelet did not take that pod, so none of its containers was ever created.
    """

    count: int
    uid: str
    reason: str
    message: str
    node: str
    was_refused: bool = False

    @classmethod
    def ending_with(cls, pod: Pod, count: int) -> "FailedPods":
        """Return the failures of which this pod's is the last."""
        status = pod.status
        return cls(
            count=count,
            uid=pod.metadata.uid,
            reason=status.reason or FAILED,
            message=status.message or "",
            node=pod.spec.node_name,
            was_refused=not is_taken(pod) and status.condition("DisruptionTarget") is None,
        )


def is_taken(pod: Pod) -> bool:
    """Return whether the kubelet has taken a pod: only then does it report containers."""
    return bool(pod.status.container_statuses or pod.status.init_container_statuses)


def track_failures(before: FailedPods | None, pod: Pod) -> FailedPods | None:
    """
    Return the failures after a new version of a pod; None if there are none since it was Ready.
    """
    if pod.is_ready:
        return None
    is_counted = before is not None and before.uid == pod.metadata.uid
    if pod.status.phase != FAILED or is_counted or pod.metadata.deletion_timestamp is not None:
        return before
    return FailedPods.ending_with(pod, 1 + (before.count if before is not None else 0))


def is_replaced_by_name(pod: Pod) -> bool:
    """Return whether a pod's successor has its name; pods of other controllers get new names."""
    owners = pod.metadata.owner_references or ()
    return any(each.controller and each.kind == STATEFUL_SET for each in owners)


# --------------------------------------------------------------------
# The restarts of a pod's containers by which it lost a run that served.
#
# The status of a pod has the number of restarts, and the times of the present run and of the one before
# it (API reference, ContainerStatus). Those of earlier runs must be remembered, and whether the pod was
# Ready in them. A crash loop in which it never is has one cause and is one trouble; it does not count.


MAX_RESTARTS = 10
"""The number of restarts that are remembered of a container."""


class ContainerRestarts(Struct, frozen=True, gc=False):
    """
    The restarts of one container.

    *count*: all of them, as the kubelet counts. *served*: the pod was Ready in the present run.
    *times*: when runs started that followed one that served, or one that nobody saw.
    *unseen*: the restarts before these whose times nobody saw.
    """

    count: int
    served: bool
    times: tuple[datetime, ...] = ()
    unseen: int = 0


class RestartHistory(Struct, frozen=True):
    """The restarts of the pod *uid*, by container."""

    uid: str
    by_container: Mapping[str, ContainerRestarts]


def track_restarts(
    before: RestartHistory | None, old: Pod | None, pod: Pod
) -> RestartHistory | None:
    """
    Return the restarts after a new version of a pod; None if there were none.

    *old*: the version before, None if this is the first that is seen of any pod of that name.
    """
    restarted = [status for status in core.container_statuses(pod) if status.restart_count]
    if not restarted:
        return None
    uid, start = pod.metadata.uid, None
    known = before.by_container if before is not None and before.uid == uid else {}
    if old is not None and old.metadata.uid == uid:
        start = ContainerRestarts(0, served=old.is_ready or core.was_ready(old))
    found = {each.name: _track(known.get(each.name, start), each, pod) for each in restarted}
    return RestartHistory(uid, found)


def _track(
    before: ContainerRestarts | None, status: ContainerStatus, pod: Pod
) -> ContainerRestarts:
    count, starts = status.restart_count, tuple(_read_starts(status))
    # A container runtime that lost its records lets the kubelet count from the start again.
    if before is None or count < before.count:
        return ContainerRestarts(count, pod.is_ready, starts, count - len(starts))
    if count == before.count:
        return before if before.served or not pod.is_ready else replace(before, served=True)
    if not starts:
        return before  # until the status tells when
    # Of several restarts at once, the first one ended the run that served.
    times = starts[max(before.count - count, -len(starts)) :][:1] if before.served else ()
    return replace(
        before,
        count=count,
        served=pod.is_ready,
        times=(*before.times, *times)[-MAX_RESTARTS:],
    )


def _read_starts(status: ContainerStatus) -> Iterator[datetime]:
    """
    Yield when the last restarts were, as far as the status tells: the newest one and one before it.

    While a container waits to be started again, its newest run is the last state (kubernetes,
    pkg/kubelet/kubelet_pods.go, convertToAPIContainerStatuses).
    """
    state, last = status.state, status.last_state.terminated
    current = state.running or state.terminated
    runs = [(status.restart_count - (current is not None), last), (status.restart_count, current)]
    for number, run in runs:
        if number > 0 and run is not None and run.started_at and run.started_at > EARLIEST_TIME:
            yield run.started_at
