"""
The state of a Deployment's rollout, from its conditions.

Source: the Deployment controller (kubernetes, pkg/controller/deployment).
"""

from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.core.deployments import Deployment
from reporter.stages.resources.conditions import is_condition_true


def replica_failure(deployment: Deployment) -> Condition | None:
    """
    Return the condition that no pods can be created: by a quota, Pod Security or a webhook.

    The same condition reports that a pod cannot be deleted (reason FailedDelete), which leaves too
    many pods and not too few.
    """
    failure = deployment.status.condition("ReplicaFailure")
    if failure is None or not is_condition_true(failure) or failure.reason == "FailedDelete":
        return None
    return failure


def is_deadline_exceeded(deployment: Deployment) -> bool:
    """
    Return whether a rollout missed its progress deadline.

    The condition of a paused Deployment is frozen and does not count.
    """
    progressing = deployment.status.condition("Progressing")
    is_exceeded = progressing is not None and progressing.reason == "ProgressDeadlineExceeded"
    return is_exceeded and not deployment.spec.paused


def is_rolling_out(deployment: Deployment) -> bool:
    """
    Return whether the controller reports a rollout in progress; not for a paused Deployment.

    Progressing stays True after a rollout, with the reason NewReplicaSetAvailable.
    """
    progressing = deployment.status.condition("Progressing")
    return (
        not deployment.spec.paused
        and progressing is not None
        and progressing.status == "True"
        and progressing.reason != "NewReplicaSetAvailable"
    )
