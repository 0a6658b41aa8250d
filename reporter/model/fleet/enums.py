"""The closed sets of the hub."""

from enum import StrEnum, unique


@unique
class Engage(StrEnum):
    """The clusters that the hub answers for: those that objects list, or all that are seen."""

    LISTED = "listed"
    SEEN = "seen"


@unique
class FleetCode(StrEnum):
    """Causes for which the hub itself calls a cluster Unknown."""

    NOT_ASKED = "NotAsked"  # no query has succeeded since the start
    NEVER_REPORTED = "NeverReported"
    NOT_CONFIRMED = "NotConfirmed"  # seen, but its time of evaluation has not changed yet
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
    """The queries of a round."""

    CLUSTERS = "clusters"
    TROUBLE = "trouble"
    REVISIONS = "revisions"


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
