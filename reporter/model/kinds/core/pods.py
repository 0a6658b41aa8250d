"""Pods."""

from datetime import timedelta
from sys import intern
from typing import ClassVar

import msgspec

from reporter.model.kinds.base.api_struct import ApiStruct, InterningApiStruct, Timestamp
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.keys import inference_set_key, picker_key, workload_key
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import CREATED_BY_LABEL, workload_subject
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import Subject


class ContainerStateWaiting(ApiStruct, frozen=True):
    reason: str | None = ""
    message: str | None = ""


class ContainerStateRunning(ApiStruct, frozen=True):
    started_at: Timestamp | None = None


class ContainerStateTerminated(ApiStruct, frozen=True):
    reason: str | None = ""
    message: str | None = ""
    exit_code: int = 0
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None


class ContainerState(ApiStruct, frozen=True):
    """At most one of the three is set."""

    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(InterningApiStruct, frozen=True):
    interned_fields: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


KEPT_CONDITION_TYPES = frozenset({"DisruptionTarget", "PodScheduled", "Ready"})
"""
The conditions that probes read; all others are dropped, a sixth of the memory of a large stack.
"""


class PodStatus(InterningApiStruct, frozen=True):
    """The status of a pod, its conditions reduced to KEPT_CONDITION_TYPES."""

    interned_fields: ClassVar[tuple[str, ...]] = ("phase", "start_time")

    phase: str | None = ""
    reason: str | None = ""
    message: str | None = ""
    start_time: Timestamp | None = None
    pod_ip: str | None = msgspec.field(default="", name="podIP")
    conditions: tuple[Condition, ...] | None = ()
    container_statuses: tuple[ContainerStatus, ...] | None = ()
    init_container_statuses: tuple[ContainerStatus, ...] | None = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        kept = tuple([each for each in self.conditions or () if each.type in KEPT_CONDITION_TYPES])
        msgspec.structs.force_setattr(self, "conditions", kept)

    def condition(self, kind: str) -> Condition | None:
        return find_condition(self.conditions, kind)


class PodSpec(ApiStruct, frozen=True):
    node_name: str = ""
    host_network: bool = False


class Pod(ApiObject, frozen=True):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def is_ready(self) -> bool:
        # Inlined `find_condition`: a full pass asks this several times of each pod.
        for each in self.status.conditions or ():
            if each.type == "Ready":
                return each.status == "True"
        return False


FIRST_STATUS_WITHIN = timedelta(seconds=2)
"""
Time after startTime within which kubelet writes the first Ready=False; its times are whole seconds.

A Ready condition that changed later than this has been True before.
"""


def was_ready(pod: Pod) -> bool:
    """Return whether a pod's Ready condition has changed since its first status."""
    ready, started = pod.status.condition("Ready"), pod.status.start_time
    changed = ready.last_transition_time if ready is not None else None
    return changed is not None and started is not None and changed > started + FIRST_STATUS_WITHIN


def container_statuses(pod: Pod) -> tuple[ContainerStatus, ...]:
    """Return the statuses of all containers, init containers first."""
    return (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))


def workload_name(pod: ApiObject) -> str:
    """
    Return the name of the Deployment (or other controller) that a pod belongs to.

    A ReplicaSet is named ``<deployment>-<pod-template-hash>`` and labels its pods with that hash
    (kubernetes, pkg/controller/deployment/sync.go), so no right to read ReplicaSets is needed.
    """
    for owner in pod.metadata.owner_references or ():
        if owner.controller:
            suffix = "-" + pod.metadata.label("pod-template-hash")
            return owner.name.removesuffix(suffix) if owner.kind == "ReplicaSet" else owner.name
    return ""


def index_keys(pod: Pod) -> tuple[str, ...]:
    meta, owner = pod.metadata, workload_name(pod)
    inference_set = meta.label(CREATED_BY_LABEL)
    return (
        *((workload_key(meta.namespace, owner),) if owner else ()),
        *((intern(inference_set_key(meta.namespace, inference_set)),) if inference_set else ()),
    )


def affects(pod: Pod) -> tuple[Subject, ...]:
    return (workload_subject(pod),)


def _picker_key(pod: Pod) -> str:
    return picker_key(pod.metadata.namespace, workload_name(pod))


PODS = ResourceKind(
    resource="pods",
    group="",
    versions=("v1",),
    kind="Pod",
    type=Pod,
    index_keys=index_keys,
    affects=affects,
    referrers=(("inferencepools", _picker_key),),
    tracks_deletions=False,
)
