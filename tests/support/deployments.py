"""Shared inputs of the tests of Deployments."""

from tests.support.builders import NOON, SECOND


DONE = ("Progressing", "True", "NewReplicaSetAvailable")
ROLLING = ("Progressing", "True", "ReplicaSetUpdated")
OVERDUE = ("Progressing", "False", "ProgressDeadlineExceeded")
PAUSED = ("Progressing", "Unknown", "DeploymentPaused")
REFUSED = ("ReplicaFailure", "True", "FailedCreate", "exceeded quota: compute")
YOUNG = {"ready": False, "started": NOON, "since": NOON + SECOND, "created_at": NOON}
WAS_READY = {"ready": False, "since": NOON}


def message_of(found) -> str:
    return "{object} {state}{pods}.".format(**found.message_fields)
