"""Shared inputs of the tests of GPU node provisioning."""

from tests.support.builders import NOON
from tests.support.model_builders import (
    QUOTA,
    WAITING_CONDITIONS,
    a_model,
    a_model_pod,
    a_workspace,
    never_ready,
)


REASON = "inferencesetInfraProvisioningFailed"
REFUSED = {"NodeClaimReady": ("False", "SubscriptionQuotaReached", QUOTA), **WAITING_CONDITIONS}


def claims(reason: str, message: str = "", status: str = "False", **others) -> dict:
    return {**WAITING_CONDITIONS, "NodeClaimReady": (status, reason, message), **others}


def starting(changed_conditions, **changes) -> list:
    """Return a model whose pod waits for its node."""
    pod = a_model_pod(waiting="ContainerCreating", **never_ready(NOON))
    return a_model(a_workspace(changed_conditions=changed_conditions, **changes), pod)
