"""
Partial API objects: only the fields that a decision or a message reads.

Names are those of the API in snake case. Go writes empty lists and maps as null, so these may be None.
"""

import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated as Narrowed
from typing import Any, ClassVar, TypeAlias

import msgspec
from msgspec import Struct


Timestamp: TypeAlias = Narrowed[datetime, msgspec.Meta(tz=True)]
"""
With its offset from UTC: without one it could be compared with no other.
"""


class ApiStruct(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """
    A part of an API object; unknown fields are skipped when it is decoded.

    *common*: fields whose texts many objects have alike, each of which is kept in memory once.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in self.interned_fields:
            found = getattr(self, field)
            if found:
                msgspec.structs.force_setattr(self, field, interned(found))


def interned(found: Any) -> Any:
    """
    The same text, or texts by name, without copies: half of what a large stack takes is these.
    """
    if isinstance(found, str):
        return sys.intern(found)
    return {sys.intern(name): sys.intern(text) for name, text in found.items()}


class OwnerReference(ApiStruct, frozen=True):
    interned_fields: ClassVar[tuple[str, ...]] = ("kind", "name", "uid")

    kind: str
    name: str
    uid: str = ""
    controller: bool | None = None


class Metadata(ApiStruct, frozen=True):
    interned_fields: ClassVar[tuple[str, ...]] = ("namespace", "labels")

    name: str
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    creation_timestamp: Timestamp | None = None
    deletion_timestamp: Timestamp | None = None
    labels: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None

    def label(self, name: str) -> str:
        return (self.labels or {}).get(name, "")


class AnnotatedMetadata(Metadata, frozen=True):
    """
    Metadata of the few kinds whose annotations are read.
    """

    annotations: dict[str, str] | None = None

    def annotation(self, name: str) -> str | None:
        return (self.annotations or {}).get(name)


class Condition(ApiStruct, frozen=True):
    interned_fields: ClassVar[tuple[str, ...]] = ("type", "status", "reason", "message")

    type: str
    status: str
    reason: str | None = ""
    message: str | None = ""
    last_transition_time: Timestamp | None = None
    observed_generation: int = 0


def find_condition(conditions: Iterable[Condition] | None, kind: str) -> Condition | None:
    for each in conditions or ():
        if each.type == kind:
            return each
    return None


class ApiObject(ApiStruct, frozen=True):
    """
    What every kept object has.
    """

    metadata: Metadata


class NamespaceStatus(ApiStruct, frozen=True):
    phase: str | None = ""


class Namespace(ApiObject, frozen=True):
    status: NamespaceStatus = NamespaceStatus()


class DeploymentSpec(ApiStruct, frozen=True):
    replicas: int | None = 1
    paused: bool = False


class DeploymentStatus(ApiStruct, frozen=True):
    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    conditions: tuple[Condition, ...] | None = ()

    def condition(self, kind: str) -> Condition | None:
        return find_condition(self.conditions, kind)


class Deployment(ApiObject, frozen=True):
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()

    @property
    def desired_replicas(self) -> int:
        """
        Replicas wished for; the API's default is 1.
        """
        return 1 if self.spec.replicas is None else self.spec.replicas


class ContainerStateWaiting(ApiStruct, frozen=True):
    reason: str | None = ""
    message: str | None = ""


class ContainerStateRunning(ApiStruct, frozen=True):
    started_at: Timestamp | None = None


class ContainerStateTerminated(ApiStruct, frozen=True):
    reason: str | None = ""
    message: str | None = ""
    exit_code: int = 0
    finished_at: Timestamp | None = None


class ContainerState(ApiStruct, frozen=True):
    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(ApiStruct, frozen=True):
    interned_fields: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


KEPT_CONDITION_TYPES = frozenset({"DisruptionTarget", "PodScheduled", "Ready"})
"""
Conditions of a pod that are read; those that are not take a sixth of what a large stack does.
"""


class PodStatus(ApiStruct, frozen=True):
    """
    Without conditions that nobody reads.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ("phase",)

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
        told = tuple([each for each in self.conditions or () if each.type in KEPT_CONDITION_TYPES])
        msgspec.structs.force_setattr(self, "conditions", told)

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
        condition = self.status.condition("Ready")
        return condition is not None and condition.status == "True"
