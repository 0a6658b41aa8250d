"""The outages that hit every InferenceSet at once."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from e2e.bench.load.deployments import NODE_PROVISIONER, ROUTER
from e2e.controlplane import Json
from e2e.support.production_stack.inference_sets import INVALID_REASON, WRONG


@dataclass(frozen=True)
class OutageScenario:
    """
    An outage of all objects whose keys in etcd begin with *prefix*.

    *change* alters each object in place. *cause* is namespace and name of a Deployment that goes
    down meanwhile, *reason* its reason. *announced* is the reason of the InferenceSets, empty if it
    is suppressed. After *hold* seconds all of them would have been announced.
    """

    name: str
    prefix: str
    change: Callable[[Json], None]
    cause: tuple[str, str]
    reason: str
    hold: float
    announced: str = ""


def _without_nodes(workspace: Json) -> None:
    """Report an error that does not tell its cause; an exceeded quota would not be suppressed."""
    unavailable = {
        "status": "False",
        "reason": "LaunchFailed",
        "message": "creating the instance: context deadline exceeded",
        "lastTransitionTime": dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    for condition in workspace["status"]["conditions"]:
        if condition["type"] in {"NodeClaimReady", "ResourceReady"}:
            condition.update(unavailable)


def _misconfigured(inference_set: Json) -> None:
    inference_set["metadata"].setdefault("annotations", {}).update(WRONG)


PROVISIONING = OutageScenario(
    name="provisioner",
    prefix="/registry/kaito.sh/workspaces/",
    change=_without_nodes,
    cause=(NODE_PROVISIONER.namespace, NODE_PROVISIONER.name),
    reason="clusterNodeProvisionerNotReady",
    hold=60,
)
INDEPENDENT = OutageScenario(
    name="independent",
    prefix="/registry/kaito.sh/inferencesets/",
    change=_misconfigured,
    cause=ROUTER,
    reason="clusterBBRNotReady",
    hold=0,
    announced=INVALID_REASON,
)
OUTAGES = {outage.name: outage for outage in (PROVISIONING, INDEPENDENT)}
