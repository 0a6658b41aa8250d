"""
The status of a ProductionStackStatus as the reporter writes it; its CRD is made from these structs.

A key with its default value is left out.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum, unique
from typing import Annotated, TypeAlias

from msgspec import Meta

from reporter.model.enums import Layer
from reporter.model.rollup.states import Actionability, Pattern, SinceFrom, State
from reporter.model.rollup.status import Blocking, Replicas, StatusStruct


READY, RECONCILING, STALLED, AVAILABLE = "Ready", "Reconciling", "Stalled", "Available"
"""
The types of conditions. The first three are those of kstatus (sigs.k8s.io/cli-utils, pkg/kstatus).
"""


Time: TypeAlias = Annotated[datetime, Meta(tz=True)]


@unique
class ConditionStatus(StrEnum):
    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"

    @classmethod
    def of(cls, value: bool | None) -> "ConditionStatus":
        if value is None:
            return cls.UNKNOWN
        return cls.TRUE if value else cls.FALSE


@unique
class WriteObjectResult(StrEnum):
    """
    The result of one request to write a status.
    """

    WRITTEN = "written"
    CONFLICT = "conflict"  # somebody changed the object meanwhile; looked at again
    GONE = "gone"  # the object or its CRD was deleted
    REFUSED = "refused"  # by permissions or admission; retried
    THROTTLED = "throttled"
    FAILED = "failed"
    INVALID = "invalid"  # the CRD does not allow it: it is of another release, or this has a fault


class ObjectCondition(StatusStruct, frozen=True, kw_only=True):
    """
    One condition, as metav1.Condition.
    """

    type: str
    status: ConditionStatus
    observed_generation: Annotated[
        int, Meta(description="Generation of the object that the condition is about.")
    ]
    last_transition_time: Annotated[
        Time, Meta(description="When the status of the condition last changed.")
    ]
    reason: str
    message: str


class ObjectBlocking(StatusStruct, frozen=True, kw_only=True):
    """
    The cause that keeps the subject from being Current, and not what merely follows from it.
    """

    reason: Annotated[
        str, Meta(description="Reason of the catalogue, or the code where no reason is to blame.")
    ]
    code: Annotated[str, Meta(description="Cause code.")]
    layer: Annotated[Layer, Meta(description="Layer of the cause.")]
    object: Annotated[
        str, Meta(description="Object of the cause, `resource.group namespace/name`.")
    ] = ""
    message: Annotated[str, Meta(description="What is wrong and where.")] = ""
    remedy: Annotated[str, Meta(description="What to do.")] = ""
    actionability: Annotated[
        Actionability, Meta(description="Who must act; `transient`: nobody yet.")
    ]
    pointer: Annotated[
        bool, Meta(description="The subject's own findings only follow from the cause.")
    ] = False
    via: Annotated[
        tuple[str, ...],
        Meta(description="The subject's own reason and those between it and the cause."),
    ] = ()
    held: Annotated[bool, Meta(description="It may still be a normal start or change.")] = False
    since: Annotated[Time | None, Meta(description="Since when this has been so.")] = None
    since_from: Annotated[SinceFrom | None, Meta(description="Who reports that time.")] = None
    window_seconds: Annotated[
        int, Meta(description="How long this may take before it counts as stalled.")
    ] = 0
    stalled: Annotated[bool, Meta(description="It has taken longer than its window.")] = False
    pattern: Annotated[
        Pattern | None, Meta(description="Set if it is stalled and no writer names a culprit.")
    ] = None

    @classmethod
    def of(cls, blocking: Blocking) -> "ObjectBlocking":
        names = set(cls.__struct_fields__) - {"reason", "since"}
        since = blocking.since
        return cls(
            reason=blocking.reason or blocking.pattern or blocking.code,
            since=None if since is None else since.replace(microsecond=0),
            **{name: getattr(blocking, name) for name in names},
        )


class SetCounts(StatusStruct, frozen=True, kw_only=True):
    """
    The InferenceSets that the object is about, by state.
    """

    total: int = 0
    current: int = 0
    in_progress: int = 0
    unknown: int = 0
    failed: int = 0
    terminating: int = 0
    not_found: int = 0

    @classmethod
    def of(cls, numbers: Mapping[State, int]) -> "SetCounts":
        keys = {state: state.name.lower() for state in State}
        counts = {keys[state]: number for state, number in numbers.items()}
        return cls(total=sum(counts.values()), **counts)


class ObjectStatus(StatusStruct, frozen=True, kw_only=True):
    """
    The answer. `observedGeneration` is -1 until the reporter has seen the object.
    """

    observed_generation: Annotated[
        int, Meta(description="Generation of the object that the status is about.")
    ]
    state: Annotated[State, Meta(description="State of what the object is about.")]
    conditions: Annotated[
        tuple[ObjectCondition, ...],
        Meta(description="Ready, Reconciling, Stalled, as kstatus reads them, and Available."),
    ]
    blocking: Annotated[
        ObjectBlocking | None, Meta(description="What keeps it from being Current.")
    ] = None
    replicas: Annotated[
        Replicas | None, Meta(description="Sums over the InferenceSets; not with scope Cluster.")
    ] = None
    inference_sets: Annotated[
        SetCounts | None, Meta(description="Numbers of InferenceSets by state.")
    ] = None
    not_judged: Annotated[
        tuple[str, ...],
        Meta(
            description="Reasons that need metrics pages, which tell nothing yet, of any of the "
            "InferenceSets."
        ),
    ] = ()
    package_revision: Annotated[
        str, Meta(description="Revision of the package that the status is about.")
    ] = ""
    last_evaluation_time: Annotated[
        Time | None,
        Meta(
            description="Time of an evaluation that came to this status; renewed every five "
            "minutes, less often beyond 600 objects. An older time: the reporter does not run."
        ),
    ] = None
