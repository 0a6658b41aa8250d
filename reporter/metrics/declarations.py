"""
Every metric of the reporter, declared once: name, type, help text, labels and buckets.

The page and its collectors read these declarations, and so does docs/metrics.md. Names and units
follow https://prometheus.io/docs/practices/naming/. Label values come from closed sets and from
the names of namespaces and of InferenceSets that have trouble; pods are never labels. Series of
InferenceSets are there only for what is not clear, or was within the hour, so their number grows with
trouble and not with InferenceSets; SET_LIMIT bounds it. Those of replicas and availability are there for
each, of MODEL_LIMIT at most.
"""

from enum import StrEnum, unique

from msgspec import Struct


PREFIX = "productionstack_status_reporter_"


@unique
class MetricType(StrEnum):
    """The types of the exposition format that the reporter uses."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class MetricDeclaration(Struct, frozen=True):
    """
    One metric.

    *name*: without the prefix; a counter's ends in ``_total``. *buckets*: the upper bounds of a
    histogram, without +Inf.
    """

    name: str
    type: MetricType
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def full_name(self) -> str:
        """The name on the metrics page, with the prefix of the program."""
        return PREFIX + self.name


SET_LIMIT = 10_000
"""The pairs of InferenceSet and reason that have series of their own, the most important first."""

FINDING_LABELS = ("layer", "reason", "workload_namespace")
"""
The labels of a (reason, subject).

Not ``namespace``: Prometheus sets that one to the namespace of the reporter's own pod when it
scrapes through a ServiceMonitor, and would rename ours to ``exported_namespace``.
"""

OWNED_LABELS = ("layer", "reason", "owner", "workload_namespace")
SET_LABELS = (*OWNED_LABELS, "inferenceset")
FINDING_SERIES_LABELS = (*OWNED_LABELS, "severity", "inferenceset")

FINDING = MetricDeclaration(
    "finding",
    MetricType.GAUGE,
    "1 for each finding on which an alert is to fire, from the leader alone; no series otherwise.",
    FINDING_SERIES_LABELS,
)
FINDINGS_COMPLETE = MetricDeclaration(
    "findings_complete",
    MetricType.GAUGE,
    "1 while this replica leads, and has evaluated the cluster and read earlier Events: a finding "
    "without a series is over then; 0 otherwise.",
)
REASON_STATE = MetricDeclaration(
    "reason_state",
    MetricType.GAUGE,
    "1 for each state that the reason has for some subject in the namespace; 0 for active, announced, "
    "suppressed and unknown ones otherwise, and for the others that it had, for an hour.",
    (*OWNED_LABELS, "state", "reads"),
)
SET_STATE = MetricDeclaration(
    "inferenceset_reason_state",
    MetricType.GAUGE,
    "1 for each state that the reason has for the InferenceSet, or a subject of another kind; 0 for "
    "those it had, for an hour.",
    (*SET_LABELS, "state"),
)
FINDING_SINCE = MetricDeclaration(
    "finding_since_timestamp_seconds",
    MetricType.GAUGE,
    "Unix time since which the trouble of a finding has existed, as far as is known.",
    SET_LABELS,
)
SUPPRESSION_INFO = MetricDeclaration(
    "suppression_info",
    MetricType.GAUGE,
    "1 for each reason and namespace that is suppressed, with the announced cause and its namespace.",
    ("cause", "cause_namespace", *FINDING_LABELS),
)
SETS_LEFT_OUT = MetricDeclaration(
    "inferenceset_series_left_out",
    MetricType.GAUGE,
    "Pairs of reason and InferenceSet, or subject of another kind, without series of their own, beyond "
    f"{SET_LIMIT:,} pairs.",
)
SUBJECTS = MetricDeclaration(
    "subjects",
    MetricType.GAUGE,
    "Subjects by the most important state among their reasons; while those of a layer cannot be listed "
    "it has no zeros.",
    ("layer", "state"),
)

STATE_METRICS: tuple[MetricDeclaration, ...] = (
    FINDING,
    FINDINGS_COMPLETE,
    REASON_STATE,
    SET_STATE,
    FINDING_SINCE,
    SUPPRESSION_INFO,
    SETS_LEFT_OUT,
    SUBJECTS,
)


SILENCES = MetricDeclaration(
    "silences",
    MetricType.GAUGE,
    "Silences that are written, by state: all but active silence nothing.",
    ("state",),
)
SILENCE_UNTIL = MetricDeclaration(
    "silence_until_timestamp_seconds",
    MetricType.GAUGE,
    "Unix time at which a silence ends; 0 for a malformed one. At most 500 series.",
    ("workload_namespace", "inferenceset", "reasons", "by", "origin", "state"),
)
MIRROR_WRITES = MetricDeclaration(
    "mirror_writes_total",
    MetricType.COUNTER,
    "Requests to write an Event beside its InferenceSet, by result.",
    ("result",),
)

ANNOUNCING_METRICS = (SILENCES, SILENCE_UNTIL, MIRROR_WRITES)


BUILD_INFO = MetricDeclaration(
    "build_info",
    MetricType.GAUGE,
    "1 for the version of the program, and of the Python that runs it.",
    ("version", "python_version"),
)
PASS_DURATION = MetricDeclaration(
    "pass_duration_seconds",
    MetricType.HISTOGRAM,
    "Duration of evaluation passes.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)
LAST_PASS = MetricDeclaration(
    "last_pass_timestamp_seconds",
    MetricType.GAUGE,
    "Unix time at which the last evaluation pass ended.",
)
EVENT_LOOP_LAG = MetricDeclaration(
    "event_loop_lag_seconds",
    MetricType.HISTOGRAM,
    "Time for which the asyncio event loop was busy without a break, while all else waited.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5),
)
LEADER = MetricDeclaration(
    "leader",
    MetricType.GAUGE,
    "1 if this replica is the leader, which writes Events; 0 otherwise.",
)
CLOCK_SKEW = MetricDeclaration(
    "api_server_clock_skew_seconds",
    MetricType.GAUGE,
    "Seconds by which the API server's clock is ahead of this machine's; negative if behind.",
)
CLOCK_SPREAD = MetricDeclaration(
    "api_server_clock_spread_seconds",
    MetricType.GAUGE,
    "Largest difference between the clock of one answer and that of most answers, for an API "
    "server of several whose clock is wrong.",
)
API_REQUESTS = MetricDeclaration(
    "api_requests_total",
    MetricType.COUNTER,
    "Requests to the API server, by verb and status code; those without a response have code error.",
    ("verb", "code"),
)
EVENT_WRITES = MetricDeclaration(
    "event_writes_total", MetricType.COUNTER, "Requests to write an Event, by result.", ("result",)
)
SCRAPES = MetricDeclaration(
    "scrapes_total",
    MetricType.COUNTER,
    "Attempts to read the metrics page of a model pod, by result.",
    ("result",),
)
SCRAPE_PAGES = MetricDeclaration(
    "scrape_pages",
    MetricType.GAUGE,
    "Metrics pages of model pods that are to be read, by the outcome of the last attempt.",
    ("outcome",),
)
SCRAPE_PAGE_AGE = MetricDeclaration(
    "scrape_page_max_age_seconds", MetricType.GAUGE, "How old a metrics page may be.", ("path",)
)

CLOSED_CONNECTIONS = MetricDeclaration(
    "http_connections_closed_total",
    MetricType.COUNTER,
    "Connections of HTTP clients that the reporter closed early, by cause.",
    ("cause",),
)

KIND_SERVED = MetricDeclaration(
    "kind_served",
    MetricType.GAUGE,
    "0 while discovery finds that the API server does not serve the kind; 1 otherwise.",
    ("kind",),
)
WATCH_UP = MetricDeclaration(
    "watch_up",
    MetricType.GAUGE,
    "1 from the opening of a watch of the kind until a list or watch of it fails, also while one that ended "
    "as usual is opened again; 0 otherwise.",
    ("kind",),
)
WATCH_LAST_EVENT_AGE = MetricDeclaration(
    "watch_last_event_age_seconds",
    MetricType.GAUGE,
    "Time since the last event or bookmark of the kind's watch, or since its list.",
    ("kind",),
)
OBJECTS = MetricDeclaration(
    "objects", MetricType.GAUGE, "Objects of the kind in the store.", ("kind",)
)
RELISTS = MetricDeclaration(
    "relists_total", MetricType.COUNTER, "Lists of the kind after the first.", ("kind",)
)
WATCH_RESTARTS = MetricDeclaration(
    "watch_restarts_total", MetricType.COUNTER, "Watches of the kind after the first.", ("kind",)
)
WATCH_MISSED = MetricDeclaration(
    "watch_missed_total",
    MetricType.COUNTER,
    "Lists of the kind because its watch missed a change, or delayed it by more than a second.",
    ("kind",),
)
DECODE_ERRORS = MetricDeclaration(
    "decode_errors_total",
    MetricType.COUNTER,
    "Objects of the kind that could not be decoded, each time one was received.",
    ("kind",),
)
UNDECODABLE_OBJECTS = MetricDeclaration(
    "undecodable_objects",
    MetricType.GAUGE,
    "Objects of the kind whose newest version could not be decoded.",
    ("kind",),
)

MISSING_RIGHTS = MetricDeclaration(
    "missing_rights",
    MetricType.GAUGE,
    "1 while a permission that is needed is not granted, by its last review; 0 otherwise.",
    ("verb", "resource"),
)
UNKNOWN_RIGHTS = MetricDeclaration(
    "unknown_rights",
    MetricType.GAUGE,
    "Permissions that are needed and whose last review had no answer; all before the first one.",
)

ROLLUP_STATE = MetricDeclaration(
    "rollup_state",
    MetricType.GAUGE,
    "1 for the state of the cluster or of a workload namespace in the status; 0 for all others.",
    ("scope", "workload_namespace", "state"),
)
ROLLUP_INFERENCE_SETS = MetricDeclaration(
    "rollup_inferencesets",
    MetricType.GAUGE,
    "Subjects of the model layer by state in the status, such as InferenceSets, those of other kinds "
    "too; those of all namespaces have an empty namespace. While they cannot be listed there are no zeros.",
    ("workload_namespace", "state"),
)
ROLLUP_REPLICAS = MetricDeclaration(
    "rollup_replicas",
    MetricType.GAUGE,
    "Replicas of InferenceSets that are desired, updated and ready; no series where KAITO does not "
    "report them, or their objects cannot be read.",
    ("workload_namespace", "count"),
)
MODEL_LIMIT = 1_000
"""The InferenceSets that have series of their replicas, those that are not available first."""

SET_REPLICAS = MetricDeclaration(
    "inferenceset_replicas",
    MetricType.GAUGE,
    "Replicas of an InferenceSet that are desired and ready, from the leader alone; no series while they "
    f"are not known. At most {MODEL_LIMIT:,} InferenceSets, those that are not available first.",
    ("workload_namespace", "inferenceset", "count"),
)
SET_AVAILABLE = MetricDeclaration(
    "inferenceset_available",
    MetricType.GAUGE,
    "1 while requests of an InferenceSet of these, or a subject of another kind, can be answered; 0 while "
    "not; no series while that is not known.",
    ("workload_namespace", "inferenceset"),
)
ROLLUP_PACKAGE_INFO = MetricDeclaration(
    "rollup_package_info",
    MetricType.GAUGE,
    "1 for the package and revision of a workload namespace, with its state.",
    ("workload_namespace", "package", "revision", "state"),
)
ROLLUP_BLOCKING_INFO = MetricDeclaration(
    "rollup_blocking_info",
    MetricType.GAUGE,
    "1 for what keeps the cluster or a workload namespace from being Current.",
    ("scope", "workload_namespace", "reason", "code", "actionability", "stalled"),
)
ROLLUP_STALLED = MetricDeclaration(
    "rollup_stalled",
    MetricType.GAUGE,
    "1 for what keeps the cluster or a workload namespace from being Current for longer than it may, "
    "without what is silenced and what the cluster has already.",
    ("layer", "reason", "code", "owner", "workload_namespace"),
)
ROLLUP_STALLED_COMPLETE = MetricDeclaration(
    "rollup_stalled_complete",
    MetricType.GAUGE,
    "1 while findings are complete, and this status has been made for the longest window: what is stalled "
    "without a series is over then; 0 otherwise.",
)
ROLLUP_SILENCED_UNTIL = MetricDeclaration(
    "rollup_blocking_silenced_until_timestamp_seconds",
    MetricType.GAUGE,
    "Unix time at which the silence of what blocks the cluster or a workload namespace ends; no "
    "series while it is not silenced.",
    ("scope", "workload_namespace"),
)
ROLLUP_UNOBSERVED = MetricDeclaration(
    "rollup_unobserved",
    MetricType.GAUGE,
    "Workload namespaces that are Unknown, and layers whose subjects cannot all be listed, by what; 0 "
    "where there are none.",
    ("what",),
)
ROLLUP_MISSING_RIGHTS = MetricDeclaration(
    "rollup_missing_rights",
    MetricType.GAUGE,
    "1 for each permission that the reporter that made the status needs and has not.",
    ("right",),
)
ROLLUP_CLUSTER_INFO = MetricDeclaration(
    "rollup_cluster_info",
    MetricType.GAUGE,
    "1 for the version of the reporter that made the status.",
    ("version",),
)
ROLLUP_EVALUATED = MetricDeclaration(
    "rollup_evaluated_timestamp_seconds",
    MetricType.GAUGE,
    "Unix time of the pass that the status is about, with the UID of kube-system.",
    ("cluster_uid",),
)

STATUS_OBJECT_WRITES = MetricDeclaration(
    "status_object_writes_total",
    MetricType.COUNTER,
    "Requests to write the status of a ProductionStackStatus, by result.",
    ("result",),
)
STATUS_OBJECTS_FAILING = MetricDeclaration(
    "status_objects_failing",
    MetricType.GAUGE,
    "ProductionStackStatuses whose last write failed; 0 on a replica that is not the leader.",
)

EPISODES = MetricDeclaration(
    "episodes_total",
    MetricType.COUNTER,
    "Episodes that this replica has begun to announce.",
    ("reason",),
)
EPISODE_DURATION = MetricDeclaration(
    "episode_duration_seconds",
    MetricType.HISTOGRAM,
    "Time from the first announcement of an episode to its end, on the replica that saw it end.",
    ("reason",),
    buckets=(60, 600, 3600, 21600, 86400),
)
STORE_UP = MetricDeclaration(
    "store_up",
    MetricType.GAUGE,
    "1 while the HealthEvents are watched and the last write of each succeeded; 0 otherwise.",
)
STORE_OBJECTS = MetricDeclaration(
    "store_objects", MetricType.GAUGE, "HealthEvents by phase.", ("phase",)
)
STORE_WRITES = MetricDeclaration(
    "store_writes_total",
    MetricType.COUNTER,
    "Requests to create, patch or delete a HealthEvent, by result.",
    ("result",),
)
STORE_REJECTED = MetricDeclaration(
    "store_rejected_total",
    MetricType.COUNTER,
    "Episodes that had no place among the HealthEvents when they began, by the limit.",
    ("limit",),
)

OVERLAY_RELOADS = MetricDeclaration(
    "overlay_reloads_total",
    MetricType.COUNTER,
    "Changes of the catalogue's overlay that were loaded while the process ran, by result.",
    ("result",),
)
OVERLAY_REFUSED = MetricDeclaration(
    "overlay_refused",
    MetricType.GAUGE,
    "1 while the catalogue's overlay is refused and an earlier one is in effect; 0 otherwise.",
)

METRICS: tuple[MetricDeclaration, ...] = (
    BUILD_INFO,
    *STATE_METRICS,
    *ANNOUNCING_METRICS,
    PASS_DURATION,
    LAST_PASS,
    EVENT_LOOP_LAG,
    LEADER,
    CLOCK_SKEW,
    CLOCK_SPREAD,
    API_REQUESTS,
    EVENT_WRITES,
    SCRAPES,
    SCRAPE_PAGES,
    SCRAPE_PAGE_AGE,
    CLOSED_CONNECTIONS,
    KIND_SERVED,
    WATCH_UP,
    WATCH_LAST_EVENT_AGE,
    OBJECTS,
    RELISTS,
    WATCH_RESTARTS,
    WATCH_MISSED,
    DECODE_ERRORS,
    UNDECODABLE_OBJECTS,
    MISSING_RIGHTS,
    UNKNOWN_RIGHTS,
    ROLLUP_STATE,
    ROLLUP_INFERENCE_SETS,
    ROLLUP_REPLICAS,
    SET_REPLICAS,
    SET_AVAILABLE,
    ROLLUP_PACKAGE_INFO,
    ROLLUP_BLOCKING_INFO,
    ROLLUP_STALLED,
    ROLLUP_STALLED_COMPLETE,
    ROLLUP_SILENCED_UNTIL,
    ROLLUP_UNOBSERVED,
    ROLLUP_MISSING_RIGHTS,
    ROLLUP_CLUSTER_INFO,
    ROLLUP_EVALUATED,
    STATUS_OBJECT_WRITES,
    STATUS_OBJECTS_FAILING,
    EPISODES,
    EPISODE_DURATION,
    STORE_UP,
    STORE_OBJECTS,
    STORE_WRITES,
    STORE_REJECTED,
    OVERLAY_RELOADS,
    OVERLAY_REFUSED,
)
"""All of them; a test compares this list with the page."""
