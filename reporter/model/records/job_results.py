"""Values of the Job sidecar: the containers of its pod, and the condition of a Job."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobCondition:
    """One condition of a Job's status, without its time. *status* is True or False as text."""

    type: str
    status: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class JobOwner:
    """The Job that controls a pod, by the pod's owner references."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Terminated:
    """The end of a container, as its status has it."""

    exit_code: int
    reason: str


@dataclass(frozen=True, slots=True)
class Container:
    """One entry of containerStatuses. *terminated* is None while it waits or runs."""

    name: str
    terminated: Terminated | None = None


@dataclass(frozen=True, slots=True)
class SidecarPod:
    """
    The pod of the sidecar. *native_sidecars*: the init containers with ``restartPolicy: Always``.
    """

    owner: JobOwner | None
    containers: tuple[Container, ...]
    native_sidecars: frozenset[str] = frozenset()
