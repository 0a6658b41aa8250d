"""
Pods that fail although no container ever runs: kwok writes the container states asked for here.
"""

import datetime as dt
from dataclasses import dataclass
from http import HTTPStatus

from e2e.controlplane.client import STRATEGIC, ApiError, Client
from e2e.controlplane.manifests import Json


@dataclass(frozen=True)
class PodFault:
    """
    The reason for which the containers wait. With *restarts* they ran before and ended with
    *terminated*.
    """

    waiting: str = "CrashLoopBackOff"
    message: str = ""
    restarts: int = 0
    exit_code: int | None = None
    terminated: str = "Error"

    def annotations(self) -> dict[str, str]:
        given = {
            "fault.e2e/waiting": self.waiting,
            "fault.e2e/message": self.message,
            "fault.e2e/restarts": str(self.restarts),
            "fault.e2e/terminated": self.terminated,
        }
        if self.exit_code is not None:
            given["fault.e2e/exit-code"] = str(self.exit_code)
        return given


CRASH_LOOP = PodFault("CrashLoopBackOff", restarts=4, exit_code=1)
OUT_OF_MEMORY = PodFault("CrashLoopBackOff", restarts=4, exit_code=137, terminated="OOMKilled")
IMAGE_PULL = PodFault("ImagePullBackOff", message='Back-off pulling image "e2e/none:1"')
STARTING = PodFault("ContainerCreating")
_HOLD = "fault.e2e/hold"
_NOTHING = dict.fromkeys([*PodFault(exit_code=0).annotations(), _HOLD])


def set_pod_fault(client: Client, pod: Json, fault: PodFault) -> None:
    """Make one pod fail. Its replacement is healthy."""
    client.patch(client.path(pod), _annotated(_NOTHING | fault.annotations()))


def clear_pod_fault(client: Client, pod: Json) -> None:
    """Let a pod work again. One that its Deployment has replaced meanwhile needs nothing."""
    try:
        client.patch(client.path(pod), _annotated(_NOTHING))
    except ApiError as err:
        if err.status != HTTPStatus.NOT_FOUND:
            raise


def set_rollout_fault(client: Client, deployment: Json, fault: PodFault) -> None:
    """Roll out a new version of the Deployment, whose pods all fail."""
    template = _annotated(_NOTHING | fault.annotations())
    client.patch(client.path(deployment), {"spec": {"template": template}})


def clear_rollout_fault(client: Client, deployment: Json) -> None:
    client.patch(client.path(deployment), {"spec": {"template": _annotated(_NOTHING)}})


def write_status(client: Client, pod: Json, status: Json) -> None:
    """Write any status of a pod. kwok leaves the pod alone until its fault is cleared."""
    client.patch(client.path(pod), _annotated({_HOLD: "true"}))
    client.patch(f"{client.path(pod)}/status", {"status": status}, STRATEGIC)


def silence_node(client: Client, name: str) -> None:
    """
    Write of a Node what the node lifecycle controller writes once its kubelet is silent, and of its pods.

    kwok leaves the Node alone until it is resumed.
    """
    path, now = f"/api/v1/nodes/{name}", dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    client.patch(path, _annotated({_HOLD: "true"}))
    condition = {
        "type": "Ready",
        "status": "Unknown",
        "reason": "NodeStatusUnknown",
        "message": "Kubelet stopped posting node status.",
        "lastTransitionTime": now,
    }
    client.patch(f"{path}/status", {"status": {"conditions": [condition]}}, STRATEGIC)
    for pod in client.list("/api/v1/pods", fieldSelector=f"spec.nodeName={name}"):
        ready = {"type": "Ready", "status": "False", "lastTransitionTime": now}
        manifest = {"apiVersion": "v1", "kind": "Pod", **pod}
        write_status(client, manifest, {"conditions": [ready]})


def resume_node(client: Client, name: str) -> None:
    """Let kwok make a Node Ready again."""
    client.patch(f"/api/v1/nodes/{name}", _annotated({_HOLD: None}))


def _annotated(annotations: dict[str, str | None]) -> Json:
    return {"metadata": {"annotations": annotations}}
