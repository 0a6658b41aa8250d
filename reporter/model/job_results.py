"""Values of the Job sidecar: the containers of its pod, and the condition of a Job."""

from msgspec import Struct


class JobCondition(Struct, frozen=True):
    """One condition of a Job's status, without its time. *status* is True or False as text."""

    type: str
    status: str
    reason: str
    message: str


class JobOwner(Struct, frozen=True):
    """The Job that controls a pod, by the pod's owner references."""

    name: str
    uid: str


class Terminated(Struct, frozen=True):
    """The end of a container, as its status has it."""

    exit_code: int
    reason: str


class Container(Struct, frozen=True):
    """One entry of containerStatuses. *terminated* is None while it waits or runs."""

    name: str
    terminated: Terminated | None = None


class SidecarPod(Struct, frozen=True):
    """
    The pod of the sidecar. *native_sidecars*: the init containers with ``restartPolicy: Always``.
    """

    owner: JobOwner | None
    containers: tuple[Container, ...]
    native_sidecars: frozenset[str] = frozenset()
