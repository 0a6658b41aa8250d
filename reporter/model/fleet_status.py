"""The JSON of ``/status/v1`` of a hub. As in that of a reporter, keys are only added within v1."""

from datetime import datetime
from enum import StrEnum, unique
from typing import Annotated, Final, Literal

from msgspec import Meta

from reporter.model.enums import Engage
from reporter.model.states import Mode, State
from reporter.model.status_document import Counts, Package, Replicas, Unobserved
from reporter.model.status_struct import StatusStruct, Time


# --------------------------------------------------------------------
# The closed sets of the hub.


@unique
class FleetCode(StrEnum):
    """Causes for which the hub itself calls a cluster Unknown."""

    NOT_ASKED = "NotAsked"  # no query has succeeded since the start
    NEVER_REPORTED = "NeverReported"
    NOT_CONFIRMED = "NotConfirmed"  # known, but no change of its time of evaluation was seen yet
    SILENT = "Silent"  # its time of evaluation has not changed for too long
    ENGINE_UNAVAILABLE = (
        "EngineUnavailable"  # the queries fail, so nothing is known of any cluster
    )
    DUPLICATE_CLUSTER = "DuplicateCluster"  # another cluster, or several, have its label
    NO_CLUSTER_UID = "NoClusterUID"  # so that another cluster with its label would not be noticed
    NO_STATE = "NoState"  # none, or several that contradict each other
    PAUSED = "Paused"


@unique
class Dropped(StrEnum):
    """Causes for which series are left out."""

    NO_LABEL = "no_label"  # missing or empty, which is the same in PromQL
    NOT_ENGAGED = "not_engaged"
    INVALID = "invalid"  # a label or a value that no reporter writes
    TOO_MANY = "too_many"  # more clusters than the hub may keep


@unique
class QueryName(StrEnum):
    """The queries of each round, and the one by which a hub that begins learns which clusters there were."""

    CLUSTERS = "clusters"
    TROUBLE = "trouble"
    REVISIONS = "revisions"
    HISTORY = "history"  # only where all clusters that are seen are answered for


@unique
class QueryResult(StrEnum):
    """The result of one query. Only a complete answer is used."""

    COMPLETE = "complete"
    PARTIAL = "partial"  # with warnings, or marked as partial by the engine
    TRUNCATED = "truncated"  # the limit of series is reached
    TOO_LARGE = "too_large"  # more bytes than are read
    TOO_MANY = "too_many"  # more clusters than the hub may keep
    REFUSED = "refused"  # HTTP 3xx or 4xx, or credentials that cannot be read
    THROTTLED = "throttled"
    FAILED = "failed"  # HTTP 5xx, or an error of the engine
    UNREACHABLE = "unreachable"  # no response, or not in time
    UNREADABLE = "unreadable"  # not the JSON of a query API


FLEET_SCOPE: Final = "fleet"
MAX_PACKAGES = 100
MAX_NAMESPACES = 100


class FleetBlocking(StatusStruct, frozen=True, kw_only=True):
    """The blocking cause, as far as metrics tell; its message is in the cluster."""

    reason: Annotated[str, Meta(description="Reason of the catalogue, or empty.")] = ""
    code: Annotated[str, Meta(description="Cause code, or why the hub calls it Unknown.")]
    message: str = ""
    remedy: str = ""
    actionability: Annotated[
        str, Meta(description="Who must act: user, platform, or nobody yet (transient).")
    ] = ""
    stalled: bool = False
    silenced_until: Annotated[
        Time | None,
        Meta(
            description="When the silence of the cause ends; null if it has none. Who and why are in"
            " the cluster."
        ),
    ] = None


class FleetNamespace(StatusStruct, frozen=True, kw_only=True):
    """
    A workload namespace; only with `--rollup-metrics=namespace` there.

    The last three are in the detail of a cluster alone.
    """

    name: str
    state: State
    blocking: FleetBlocking | None = None
    package: Package | None = None
    inference_sets: Annotated[
        Counts | None,
        Meta(description="InferenceSets by state; null if their numbers are not known."),
    ] = None
    replicas: Replicas | None = None


class FleetPackage(StatusStruct, frozen=True, kw_only=True):
    """A number of workload namespaces by package and revision."""

    name: str
    revision: str = ""
    state: State
    namespaces: int


class ClusterEntry(StatusStruct, frozen=True, kw_only=True):
    """One cluster: the state of its control plane, with counts of its InferenceSets."""

    name: str
    label: Annotated[str, Meta(description="Value of the cluster label of its series.")]
    state: State
    last_known: Annotated[
        State | None, Meta(description="The state before it became Unknown, if one was known.")
    ] = None
    blocking: FleetBlocking | None = None
    uid: Annotated[str, Meta(description="UID of its namespace kube-system.")] = ""
    other_uids: Annotated[
        tuple[str, ...], Meta(description="All UIDs under its label, if there are several.")
    ] = ()
    other_labels: Annotated[
        tuple[str, ...], Meta(description="All labels with its UID, if there are several.")
    ] = ()
    version: Annotated[str, Meta(description="Version of its reporter.")] = ""
    evaluated_at: Annotated[
        datetime | None, Meta(description="Time of its last evaluation, by its own clock.")
    ] = None
    last_update_age_seconds: Annotated[
        int | None, Meta(description="Seconds since that time changed, by the clock of the hub.")
    ] = None
    in_state_seconds: int = 0
    skew_seconds: Annotated[
        float | None,
        Meta(
            description="Seconds by which its clock seems ahead of the engine's; decides nothing."
        ),
    ] = None
    skewed: Annotated[bool, Meta(description="The skew is beyond 60 s.")] = False
    inference_sets: Annotated[
        Counts | None,
        Meta(description="InferenceSets by state; null if their numbers are not known."),
    ] = None
    replicas: Replicas | None = None
    unobserved: Annotated[
        Unobserved | None,
        Meta(description="What of the rest is not known; null if the cluster does not say."),
    ] = Unobserved()
    namespaces: Annotated[
        tuple[FleetNamespace, ...],
        Meta(description="Workload namespaces that are not Current, at most 100."),
    ] = ()
    namespace_count: Annotated[int, Meta(description="The number of all of these.")] = 0
    packages: tuple[FleetPackage, ...] = ()


class ClusterDetail(StatusStruct, frozen=True, kw_only=True):
    """
    The answer of ``/status/v1/clusters/NAME/namespaces``: all of them, asked for at that moment.
    """

    schema: str
    scope: Literal["fleet"]
    cluster: ClusterEntry
    namespaces: tuple[FleetNamespace, ...] = ()


class DroppedEntry(StatusStruct, frozen=True, kw_only=True):
    """Series of the last answer that are left out. *names*: twenty at most."""

    why: Dropped
    series: int
    names: tuple[str, ...] = ()


class QueryEntry(StatusStruct, frozen=True, kw_only=True):
    """The last result of a query."""

    query: QueryName
    result: QueryResult
    at: datetime
    why: str = ""
    seconds: float = 0.0


class UnknownCount(StatusStruct, frozen=True, kw_only=True):
    """The number of clusters that the hub calls Unknown for one cause."""

    code: FleetCode
    clusters: int


class FleetStatus(StatusStruct, frozen=True, kw_only=True):
    """
    The fleet as a whole. *state*: the worst of its clusters, and Unknown while these are not known.
    """

    state: State
    why: Annotated[str, Meta(description="Why the clusters are not known; else empty.")] = ""
    engage: Engage
    counts: Counts = Counts()
    unknown: Annotated[
        tuple[UnknownCount, ...], Meta(description="Clusters that the hub calls Unknown, by why.")
    ] = ()
    packages: Annotated[
        tuple[FleetPackage, ...], Meta(description="Sums over the clusters, at most 100.")
    ] = ()
    package_count: int = 0
    dropped: tuple[DroppedEntry, ...] = ()
    queries: tuple[QueryEntry, ...] = ()


class FleetDocument(StatusStruct, frozen=True, kw_only=True):
    """The answer of ``/status/v1`` of a hub, and of its path for one cluster."""

    schema: Annotated[str, Meta(description="Always `v1`; keys are only added to it.")]
    scope: Annotated[Literal["fleet"], Meta(description="Of a reporter there is no such key.")]
    mode: Mode
    evaluated_at: Annotated[
        datetime | None, Meta(description="Time of the last complete answer of the engine.")
    ] = None
    fleet: FleetStatus
    clusters: tuple[ClusterEntry, ...] = ()
