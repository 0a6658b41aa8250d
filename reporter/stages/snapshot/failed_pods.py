"""
The failures of a StatefulSet's pod, counted over its successors of the same name.

A StatefulSet deletes a failed pod and creates it again (kubernetes, pkg/controller/statefulset), so
the pods that exist show the last failure at most.
"""

from msgspec import Struct

from reporter.model.kinds.core.pods import Pod


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
