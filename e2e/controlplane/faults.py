"""
Pods that fail although no container ever runs: kwok writes the container states asked for here.
"""

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
_NOTHING = dict.fromkeys(
    [*PodFault(exit_code=0).annotations(), "fault.e2e/hold"],
)


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
    client.patch(client.path(pod), _annotated({"fault.e2e/hold": "true"}))
    client.patch(f"{client.path(pod)}/status", {"status": status}, STRATEGIC)


def _annotated(annotations: dict[str, str | None]) -> Json:
    return {"metadata": {"annotations": annotations}}
