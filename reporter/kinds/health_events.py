"""
HealthEvents: the episodes of findings as objects, which the reporter creates, resolves and deletes.

Names and meanings of the fields are those of NVSentinel's HealthEvent where it has them
(NVIDIA/NVSentinel, data-models/protobufs/health_event.proto). The CRD is made from these structs.
"""

from datetime import datetime, timedelta
from enum import StrEnum, unique
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct

from reporter import PROGRAM_NAME
from reporter.kinds import objects
from reporter.kinds.productionstack import MAX_NAME
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer, Owner
from reporter.model.sanitize import MAX_EVENT_MESSAGE_BYTES
from reporter.model.states import Actionability
from reporter.model.status_document import SilencedBy
from reporter.model.subjects import Subject


MAX_REMEDY = 512
MAX_REASON = 128
MAX_REASONS = 32
MAX_CAUSES = 8
MAX_SUBJECT = 63 + 1 + MAX_NAME
MAX_OBJECT = MAX_SUBJECT
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
"""The label by which this program knows its objects; others of the kind are left alone."""


ReasonName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_REASON)]
Time: TypeAlias = Annotated[datetime, Meta(tz=True)]
OF_OTHERS = Meta(description="Written by other controllers.")


@unique
class Phase(StrEnum):
    """The state of an episode: it runs, or it has ended."""

    ACTIVE = "Active"
    RESOLVED = "Resolved"


@unique
class Resolution(StrEnum):
    """The end of an episode."""

    CLEARED = "Cleared"  # the trouble is over
    GONE = "Gone"  # its subject is gone, or the reason is evaluated no longer
    SUPERSEDED = "Superseded"  # another episode of it has begun


@unique
class RecommendedAction(StrEnum):
    """The action asked of whoever reads the object: none, as a reporter recommends none."""

    NONE = "NONE"


@unique
class ProcessingStrategy(StrEnum):
    """The treatment that NVSentinel is asked for: a reporter never triggers remediation."""

    STORE_ONLY = "STORE_ONLY"


@unique
class Quarantine(StrEnum):
    """
    The quarantine of the node in NVSentinel's words; other controllers write it, the reporter never.
    """

    QUARANTINED = "Quarantined"
    UNQUARANTINED = "UnQuarantined"
    ALREADY_QUARANTINED = "AlreadyQuarantined"
    CANCELLED = "Cancelled"


class HealthEventStruct(
    Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True
):
    """The base of the parts of a HealthEvent; a field with its default is left out."""


class Entity(HealthEventStruct, frozen=True, kw_only=True):
    """One object that the trouble is about."""

    entity_type: Annotated[
        str, Meta(max_length=MAX_NAME, description="Kind, or resource with its group.")
    ]
    entity_value: Annotated[
        str, Meta(max_length=MAX_OBJECT, description="Name, after its namespace and a slash.")
    ]


class HealthEventSpec(HealthEventStruct, frozen=True, kw_only=True):
    """The episode as it was first announced. It never changes."""

    agent: Annotated[str, Meta(max_length=63, description="The program that created it.")]
    component_class: Annotated[Layer, Meta(description="The layer, for readers of all agents.")]
    check_name: Annotated[
        ReasonName, Meta(description="Reason of the catalogue, as of the Event.")
    ]
    is_fatal: Annotated[
        bool,
        Meta(description="The model does not serve because of it."),
    ]
    is_healthy: Annotated[
        bool | None,
        Meta(description="Always false: an end is a phase of the status, not another object."),
    ] = None
    message: Annotated[
        str,
        Meta(max_length=MAX_EVENT_MESSAGE_BYTES, description="Message of the Event at that time."),
    ]
    error_code: Annotated[
        tuple[Annotated[str, Meta(max_length=MAX_REASON)], ...],
        Meta(max_length=MAX_CAUSES, description="Cause codes."),
    ] = ()
    entities_impacted: Annotated[
        tuple[Entity, ...],
        Meta(max_length=MAX_CAUSES + 2, description="The subject, and the objects of the causes."),
    ] = ()
    recommended_action: Annotated[
        RecommendedAction, Meta(description="Nothing is recommended to machines.")
    ]
    processing_strategy: Annotated[
        ProcessingStrategy, Meta(description="It is kept, and triggers nothing.")
    ]
    generated_timestamp: Annotated[Time, Meta(description="When the episode began.")]
    node_name: Annotated[
        str, Meta(max_length=MAX_NAME, description="Node of the trouble, if it is bound to one.")
    ] = ""
    layer: Annotated[Layer, Meta(description="Layer of the reason.")]
    subject: Annotated[
        str,
        Meta(
            max_length=MAX_SUBJECT,
            description="`cluster`, a namespace, `namespace/inferenceset`, or `namespace/*` for "
            "many InferenceSets in one.",
        ),
    ]
    item: Annotated[
        str,
        Meta(
            max_length=MAX_NAME,
            description="Which of several of one reason: the CRD that is missing, or the check.",
        ),
    ] = ""
    episode: Annotated[
        int, Meta(ge=0, description="Unix time of its beginning, as in the label of the Event.")
    ]
    owner: Annotated[Owner, Meta(description="Owner of the reason.")]
    actionability: Annotated[Actionability, Meta(description="Who must act.")]
    remedy: Annotated[str, Meta(max_length=MAX_REMEDY, description="What to do.")] = ""
    content_digest: Annotated[
        str, Meta(max_length=63, description="Digest of causes and suffixes at that time.")
    ] = ""


class PodsEviction(HealthEventStruct, frozen=True, kw_only=True):
    """The eviction of a node's pods; written by other controllers."""

    status: Annotated[str, Meta(max_length=63)] = ""
    message: Annotated[str, Meta(max_length=MAX_EVENT_MESSAGE_BYTES)] = ""


class HealthEventStatus(HealthEventStruct, frozen=True, kw_only=True):
    """The course of the episode. The last six are other controllers', and never written here."""

    phase: Annotated[Phase, Meta(description="Active while the episode runs.")] = Phase.ACTIVE
    resolution: Annotated[
        Resolution | None,
        Meta(description="Why it is over: cleared, gone with its subject, or begun anew."),
    ] = None
    resolved_time: Annotated[Time | None, Meta(description="When it was found to be over.")] = None
    occurrences: Annotated[
        int,
        Meta(ge=0, description="How often it was announced with other causes or suffixes."),
    ] = 1
    message: Annotated[
        str,
        Meta(
            max_length=MAX_EVENT_MESSAGE_BYTES,
            description="The last message, if it is another one.",
        ),
    ] = ""
    also: Annotated[
        tuple[ReasonName, ...],
        Meta(max_length=MAX_REASONS, description="Other findings of the subject."),
    ] = ()
    suppressing: Annotated[
        tuple[ReasonName, ...],
        Meta(max_length=MAX_REASONS, description="Reasons that are not announced because of it."),
    ] = ()
    content_digest: Annotated[
        str, Meta(max_length=63, description="Digest of the last causes and suffixes.")
    ] = ""
    silenced: Annotated[
        SilencedBy | None,
        Meta(description="The silence for which its Event is not renewed; absent without one."),
    ] = None
    node_quarantined: Annotated[Quarantine | None, OF_OTHERS] = None
    quarantine_finish_timestamp: Annotated[Time | None, OF_OTHERS] = None
    user_pods_eviction_status: Annotated[PodsEviction | None, OF_OTHERS] = None
    drain_finish_timestamp: Annotated[Time | None, OF_OTHERS] = None
    fault_remediated: Annotated[bool | None, OF_OTHERS] = None
    last_remediation_timestamp: Annotated[Time | None, OF_OTHERS] = None


class HealthEventMetadata(objects.VersionedMetadata, frozen=True):
    """Metadata with the annotations from which another process continues the episode of the object."""

    annotations: dict[str, str] | None = None


class HealthEvent(objects.WrittenObject, frozen=True):
    """
    The record of one episode of trouble in the cluster.

    *status*: as it is in the cluster, with what other controllers have written.
    """

    metadata: HealthEventMetadata
    spec: HealthEventSpec
    status: dict[str, Any] | None = None

    @property
    def phase(self) -> Phase:
        """The phase in the status; ACTIVE also for a status that states none or another one."""
        found = (self.status or {}).get("phase")
        return Phase.RESOLVED if found == Phase.RESOLVED else Phase.ACTIVE

    @property
    def is_deleting(self) -> bool:
        """True once deletion was requested; finalizers may keep the object for a while."""
        return self.metadata.deletion_timestamp is not None


CLUSTER_TEXT, MANY = "cluster", "*"


def subject_text(subject: Subject) -> str:
    """Return the subject as the objects and their columns show it."""
    match subject.layer:
        case Layer.CLUSTER:
            return CLUSTER_TEXT
        case Layer.MODELHARNESS:
            return f"{subject.namespace}/{subject.name}".rstrip("/")
        case Layer.MODELDEPLOYMENT:
            return f"{subject.namespace}/{subject.name or MANY}"


def subject_of(spec: HealthEventSpec) -> Subject:
    """Return the subject of an object; the reverse of *subject_text*."""
    if spec.layer is Layer.CLUSTER:
        return Subject(spec.layer)
    namespace, _, name = spec.subject.partition("/")
    return Subject(spec.layer, namespace, "" if name == MANY else name)


HEALTH_EVENTS = ResourceKind(
    resource="healthevents",
    group="reporter.productionstack.kaito.sh",
    versions=("v1alpha1",),
    kind="HealthEvent",
    type=HealthEvent,
    affects=objects.affects_nothing,
    label_selector=f"{MANAGED_BY_LABEL}={PROGRAM_NAME}",
    tracks_deletions=False,
)
"""
The kind in all namespaces; the reporter watches the one of its release (``msgspec.structs.replace``).
"""


CAPACITY_PROBE = "store-room"
"""
The name of the probe that reports the episodes for which no HealthEvent may be kept. Its own episodes
get no HealthEvent, as that would take the place of another one.
"""


@unique
class StoreLimit(StrEnum):
    """The limit by which an object is rejected: that of its node, or that of the cluster."""

    NODE = "node"
    CLUSTER = "cluster"


@unique
class StoreWriteResult(StrEnum):
    """The result of one request to create, patch or delete a HealthEvent."""

    CREATED = "created"
    FOUND = "found"  # it existed: an earlier create had arrived, or a predecessor's
    PATCHED = "patched"
    DELETED = "deleted"
    CONFLICT = "conflict"  # somebody changed it meanwhile; looked at again
    GONE = "gone"  # the object or its CRD was deleted
    REFUSED = "refused"  # by permissions, a quota or admission; retried
    THROTTLED = "throttled"
    FAILED = "failed"
    INVALID = "invalid"  # the CRD does not allow it: it is of another release, or this has a fault


class StoreLimits(Struct, frozen=True):
    """
    The numbers of HealthEvents that may be kept, of one node and in total.

    *retention*: how long an object is kept after the end of its episode.
    """

    per_node: int = 50
    total: int = 1000
    retention: timedelta = timedelta(days=1)
