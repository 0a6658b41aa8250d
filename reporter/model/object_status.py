"""
The status of a ProductionStackStatus as the reporter writes it; its CRD is made from these structs.

A key with its default value is left out.
"""

from collections.abc import Mapping
from enum import StrEnum, unique
from typing import Annotated, TypeAlias

from msgspec import Meta

from reporter.model.states import State
from reporter.model.status_document import Blocking, BlockingCause, Replicas
from reporter.model.status_struct import StatusStruct, Time


READY, RECONCILING, STALLED, AVAILABLE = "Ready", "Reconciling", "Stalled", "Available"
OBSERVED = "Observed"
"""
The types of conditions. The first three are those of kstatus (sigs.k8s.io/cli-utils, pkg/kstatus).
"""


@unique
class ConditionStatus(StrEnum):
    """The status of a condition, as metav1.Condition spells it."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"

    @classmethod
    def of(cls, value: bool | None) -> "ConditionStatus":
        """Return the status for a boolean; UNKNOWN for None."""
        if value is None:
            return cls.UNKNOWN
        return cls.TRUE if value else cls.FALSE


@unique
class WriteObjectResult(StrEnum):
    """The result of one request to write a status."""

    WRITTEN = "written"
    CONFLICT = "conflict"  # somebody changed the object meanwhile; looked at again
    GONE = "gone"  # the object or its CRD was deleted
    REFUSED = "refused"  # by permissions or admission; retried
    THROTTLED = "throttled"
    FAILED = "failed"
    INVALID = "invalid"  # the CRD does not allow it: it is of another release, or this has a fault


ExpirationTime: TypeAlias = Annotated[
    Time | None,
    Meta(
        description="Time from which on nobody may believe the status, whatever it says: it is Unknown,"
        " as it was not renewed. At least three times the time between two renewals after the last evaluation."
    ),
]


class ObjectCondition(StatusStruct, frozen=True, kw_only=True):
    """One condition, as metav1.Condition."""

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


class ObjectBlocking(BlockingCause, frozen=True, kw_only=True):
    """The cause that keeps the subject from being Current, and not what merely follows from it."""

    @classmethod
    def of(cls, blocking: Blocking) -> "ObjectBlocking":
        """
        Return the cause of a roll-up as the object shows it.

        Its time is in whole seconds. Without a reason it has the name of the pattern, else the
        cause code.
        """
        names = set(cls.__struct_fields__) - {"reason", "since"}
        since = blocking.since
        return cls(
            reason=blocking.reason or blocking.pattern or blocking.code,
            since=None if since is None else since.replace(microsecond=0),
            **{name: getattr(blocking, name) for name in names},
        )


class SetCounts(StatusStruct, frozen=True, kw_only=True):
    """The InferenceSets that the object is about, by state."""

    total: int = 0
    current: int = 0
    in_progress: int = 0
    unknown: int = 0
    failed: int = 0
    terminating: int = 0
    not_found: int = 0

    @classmethod
    def of(cls, numbers: Mapping[State, int]) -> "SetCounts":
        """Return the counts with their sum; a state that is not in *numbers* counts as 0."""
        counts = {state.key: number for state, number in numbers.items()}
        return cls(total=sum(counts.values()), **counts)


class ObjectStatus(StatusStruct, frozen=True, kw_only=True):
    """
    The answer to a ProductionStackStatus.

    `observedGeneration` is -1 until the reporter has seen the object.
    """

    observed_generation: Annotated[
        int, Meta(description="Generation of the object that the status is about.")
    ]
    state: Annotated[State, Meta(description="State of what the object is about.")]
    conditions: Annotated[
        tuple[ObjectCondition, ...],
        Meta(
            description="Ready, Reconciling, Stalled, as kstatus reads them, Available, and Observed: "
            "the state of each part of it is known."
        ),
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
    expiration_time: ExpirationTime = None
