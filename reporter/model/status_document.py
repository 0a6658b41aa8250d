"""
The roll-up status as published: one answer for an InferenceSet, a namespace and the cluster.

These structs are the JSON of ``/status/v1``, and its JSON Schema is made from them. Keys are only added
in v1. A key with its default value is left out.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from reporter.model.enums import Layer
from reporter.model.silences import Silence
from reporter.model.states import COUNTED_STATES, Actionability, Mode, Pattern, SinceFrom, State
from reporter.model.status_struct import StatusStruct, Time


# --------------------------------------------------------------------
# A suppressed finding, as the roll-up publishes it beside what blocks its subject.


class Suppressed(StatusStruct, frozen=True, kw_only=True):
    """A finding that is not announced, as it follows from something upstream that is out."""

    reason: Annotated[str, Meta(description="Reason of the catalogue.")]
    code: Annotated[str, Meta(description="Cause code.")]
    object: Annotated[
        str, Meta(description="Object of the cause, `resource.group namespace/name`.")
    ] = ""
    message: Annotated[str, Meta(description="What is wrong and where.")] = ""
    held: Annotated[bool, Meta(description="It may still be a normal start or change.")] = False
    by: Annotated[tuple[str, ...], Meta(description="The reasons that it follows from.")]


# --------------------------------------------------------------------
# The silence of a cause, as published.


class SilencedBy(StatusStruct, frozen=True, kw_only=True):
    """The silence for whose sake a cause is not announced."""

    until: Annotated[Time, Meta(description="When it ends.")]
    by: Annotated[str, Meta(description="Who silenced it, as written.")] = ""
    why: Annotated[str, Meta(description="Why, as written.")] = ""
    origin: Annotated[
        str, Meta(description="Where it is written: an object, or a line of the file.")
    ]


def silenced_by(silence: Silence | None) -> SilencedBy | None:
    """
    Return a silence as it is published; None for none, and for a malformed one without an end.
    """
    if silence is None or silence.until is None:
        return None
    return SilencedBy(until=silence.until, by=silence.by, why=silence.why, origin=silence.origin)


SCHEMA_VERSION = "v1"

MAX_CONTRIBUTING = 10
"""The causes that are named beside the blocking one."""


class Replicas(StatusStruct, frozen=True, kw_only=True):
    """The progress of a workload; null where nobody reports it."""

    desired: Annotated[int, Meta(description="Replicas of the spec.")]
    updated: Annotated[
        int | None,
        Meta(description="Replicas of the newest revision; null if it is not reported."),
    ] = None
    ready: Annotated[int | None, Meta(description="Replicas that serve; null if unknown.")] = None


class PublishedCause(StatusStruct, frozen=True, kw_only=True):
    """The part of a cause that is published everywhere."""

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


class BlockingCause(PublishedCause, frozen=True, kw_only=True):
    """A cause that blocks a subject, and how it does."""

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
    silenced: Annotated[
        SilencedBy | None,
        Meta(description="The silence for which the cause is not announced; null if it has none."),
    ] = None


class Blocking(BlockingCause, frozen=True, kw_only=True):
    """The cause that keeps a subject from being Current, and not what merely follows from it."""

    reason: Annotated[
        str,
        Meta(description="Reason of the catalogue; empty if there is progress without trouble."),
    ] = ""
    since: Annotated[datetime | None, Meta(description="Since when this has been so.")] = None
    in_state_seconds: Annotated[
        int, Meta(description="Seconds since then; of no account for the ETag.")
    ] = 0


class Contributing(StatusStruct, frozen=True, kw_only=True):
    """A further cause in a namespace, with the number of subjects that it blocks."""

    reason: str = ""
    code: str
    state: State
    pointer: bool = False
    subjects: int


PAUSED_CODE, UNROUTED_CODE = "ScaledToZero", "Unrouted"
"""The codes of what somebody wants so: no replica, or no route, as it is called directly."""


class NotAvailable(PublishedCause, frozen=True, kw_only=True):
    """The cause for which no request is answered, or for which that is not known."""

    reason: Annotated[
        str, Meta(description="Reason of the catalogue; empty where none is to blame.")
    ] = ""
    held: Annotated[bool, Meta(description="It may still be a normal start or change.")] = False

    @property
    def is_intended(self) -> bool:
        """True if somebody wants it so: it is no trouble, and fails no check."""
        return not self.reason and self.code in {PAUSED_CODE, UNROUTED_CODE}


class AvailableCounts(StatusStruct, frozen=True, kw_only=True):
    """The numbers of subjects by whether a request can reach them and be answered."""

    available: int = 0
    unavailable: Annotated[
        int, Meta(description="Those that are not, but for paused ones and those that go.")
    ] = 0
    unknown: int = 0
    paused: Annotated[int, Meta(description="Those scaled to zero on purpose.")] = 0

    @property
    def total(self) -> int:
        """The number of subjects of which a request is expected to be answered."""
        return self.available + self.unavailable + self.unknown


class InferenceSetStatus(StatusStruct, frozen=True, kw_only=True):
    """The status of one InferenceSet."""

    name: str
    state: State
    last_known: Annotated[
        State | None, Meta(description="The state before it became Unknown, if one was known.")
    ] = None
    available: Annotated[
        bool | None,
        Meta(
            description="A request can reach it and be answered, as far as is known: a replica serves, and nothing "
            "on the path of its requests is out; null if unknown."
        ),
    ] = None
    not_available: Annotated[
        NotAvailable | None,
        Meta(description="Why it is not available, or why that is unknown; null if it is."),
    ] = None
    answered_at: Annotated[
        Time | None,
        Meta(
            description="When a check Job last got an answer of it through its Gateway; null if no such result "
            "counts."
        ),
    ] = None
    answered_seconds: Annotated[
        int | None, Meta(description="Seconds since then; of no account for the ETag.")
    ] = None
    unreachable: Annotated[
        str, Meta(description="Why no request reaches it, although its replicas may serve.")
    ] = ""
    gateways: Annotated[
        tuple[str, ...],
        Meta(
            description="The Gateways that its routes name, `namespace/name`; empty if not known."
        ),
    ] = ()
    paused: Annotated[bool, Meta(description="Scaled to zero on purpose.")] = False
    observed_generation: Annotated[
        int | None, Meta(description="Generation that KAITO has acted on; null if not reported.")
    ] = None
    generation: int | None = None
    replicas: Replicas | None = None
    not_judged: Annotated[
        tuple[str, ...],
        Meta(description="Reasons that need metrics pages, which tell nothing yet."),
    ] = ()
    blocking: Blocking | None = None
    suppressed: tuple[Suppressed, ...] = ()


class HarnessStatus(StatusStruct, frozen=True, kw_only=True):
    """The status of the Gateway of a namespace and of what belongs to it."""

    state: State
    last_known: State | None = None
    blocking: Blocking | None = None
    suppressed: tuple[Suppressed, ...] = ()


class Package(StatusStruct, frozen=True, kw_only=True):
    """The package that a namespace was made from."""

    name: str
    revision: str = ""


class Counts(StatusStruct, frozen=True, kw_only=True):
    """A number of subjects by state."""

    current: int = 0
    in_progress: int = 0
    unknown: int = 0
    failed: int = 0
    terminating: int = 0

    @classmethod
    def of(cls, numbers: Mapping[State, int]) -> "Counts":
        """Return the counts; a state that is not in *numbers* counts as 0."""
        return cls(**{state.key: number for state, number in numbers.items() if number})

    @classmethod
    def as_known(cls, numbers: Mapping[State, int]) -> "Counts | None":
        """Return the counts; None if the number of no state is known."""
        return cls.of(numbers) if numbers else None

    def by_state(self) -> Mapping[State, int]:
        """
        Return the numbers of all states that a subject which exists may have, zeros among them.
        """
        return {state: getattr(self, state.key) for state in COUNTED_STATES}


class NamespaceStatus(StatusStruct, frozen=True, kw_only=True):
    """The status of a workload namespace: the worst of its harness and its InferenceSets."""

    name: str
    state: State
    last_known: State | None = None
    available: Annotated[
        bool | None, Meta(description="Any InferenceSet is available; null if unknown.")
    ] = None
    available_counts: Annotated[
        AvailableCounts | None,
        Meta(description="InferenceSets by availability; null if they cannot be listed."),
    ] = None
    package: Package | None = None
    blocking: Blocking | None = None
    contributing: Annotated[
        tuple[Contributing, ...],
        Meta(description="Further causes, at most ten, most important first."),
    ] = ()
    contributing_count: Annotated[int, Meta(description="The number of all further causes.")] = 0
    replicas: Annotated[Replicas | None, Meta(description="Sums over the InferenceSets.")] = None
    counts: Annotated[
        Counts | None, Meta(description="InferenceSets by state; null if they cannot be listed.")
    ] = None
    harness: HarnessStatus | None = None
    inference_sets: tuple[InferenceSetStatus, ...] = ()


class ComponentStatus(StatusStruct, frozen=True, kw_only=True):
    """The status of a Deployment of the control plane."""

    namespace: str
    name: str
    reason: Annotated[str, Meta(description="The reason that is about it.")]
    state: State
    replicas: Replicas | None = None
    observed_generation: int | None = None
    generation: int | None = None


class ClusterCounts(StatusStruct, frozen=True, kw_only=True):
    """The numbers of subjects by state; null where they cannot be listed."""

    namespaces: Counts | None = None
    inference_sets: Counts | None = None
    available: AvailableCounts | None = None


class UnlistedLayer(StatusStruct, frozen=True, kw_only=True):
    """A layer whose subjects are not all known: there may be more than are shown, in any state."""

    layer: Layer
    why: str
    state: State = State.UNKNOWN


class Unobserved(StatusStruct, frozen=True, kw_only=True):
    """The unknown part below a control plane, which may be Current all the same."""

    namespaces: Annotated[int, Meta(description="Workload namespaces that are Unknown.")] = 0
    inference_sets: Annotated[int, Meta(description="InferenceSets that are Unknown.")] = 0
    unlisted: Annotated[
        bool, Meta(description="There may be more of them: not all can be listed.")
    ] = False
    missing_rights: Annotated[
        tuple[str, ...],
        Meta(description="Permissions that the reporter needs and has not, as `list pods`."),
    ] = ()

    def describe(self) -> str:
        """Return a text of one sentence; empty if all is known and no permission is missing."""
        unknown = [
            f"{number} {noun if number > 1 else noun[:-1]}"
            for number, noun in (
                (self.namespaces, "namespaces"),
                (self.inference_sets, "InferenceSets"),
            )
            if number
        ]
        rights = ", ".join(self.missing_rights)
        texts = (
            f"Unknown below: {' and '.join(unknown)}" if unknown else "",
            "not all can be listed" if self.unlisted else "",
            f"missing permissions: {rights}" if rights else "",
        )
        return "; ".join(filter(None, texts))


class ClusterStatus(StatusStruct, frozen=True, kw_only=True):
    """
    The status of the control plane, with counts of the rest: one failing model fails no cluster.
    """

    state: State
    uid: Annotated[
        str, Meta(description="UID of the namespace kube-system; empty if it cannot be read.")
    ] = ""
    last_known: State | None = None
    blocking: Blocking | None = None
    suppressed: tuple[Suppressed, ...] = ()
    components: tuple[ComponentStatus, ...] = ()
    counts: ClusterCounts = ClusterCounts()
    unlisted_layers: tuple[UnlistedLayer, ...] = ()
    unobserved: Annotated[
        Unobserved, Meta(description="What is not known of the rest; empty if all is.")
    ] = Unobserved()


class NotJudged(StatusStruct, frozen=True, kw_only=True):
    """
    A reason that was not evaluated, because a command that reads no metrics page gave the answer.
    """

    reason: str
    why: str


class StatusDocument(StatusStruct, frozen=True, kw_only=True):
    """The answer of ``/status/v1``, and of its paths for one namespace or InferenceSet."""

    schema: Annotated[str, Meta(description="Always `v1`; keys are only added to it.")]
    mode: Annotated[Mode, Meta(description="Whether a process watches, or it was read once.")]
    evaluated_at: Annotated[
        datetime | None, Meta(description="Time of the last pass; null before the first.")
    ] = None
    page_max_age_seconds: Annotated[
        int | None,
        Meta(
            description="How old a metrics page of a pod may be, where pages are read through the API "
            "server and less often than the interval says."
        ),
    ] = None
    cluster: Annotated[
        ClusterStatus | None, Meta(description="Left out if one namespace was asked for.")
    ] = None
    namespaces: tuple[NamespaceStatus, ...] = ()
    not_judged: Annotated[
        tuple[NotJudged, ...],
        Meta(description="Reasons that were not evaluated; a reporter has none of them."),
    ] = ()


class StatusError(StatusStruct, frozen=True, kw_only=True):
    """The answer to a request that cannot be met, with what to do."""

    schema: str
    state: State | None = None
    error: str
    remedy: str
