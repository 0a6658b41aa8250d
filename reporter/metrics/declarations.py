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


def gauge(name: str, text: str, labels: tuple[str, ...] = ()) -> MetricDeclaration:
    """Declare a gauge. *text*: its help."""
    return MetricDeclaration(name, MetricType.GAUGE, text, labels)


def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> MetricDeclaration:
    """Declare a counter. *text*: its help."""
    return MetricDeclaration(name, MetricType.COUNTER, text, labels)


def histogram(
    name: str, text: str, labels: tuple[str, ...] = (), *, buckets: tuple[float, ...]
) -> MetricDeclaration:
    """Declare a histogram. *text*: its help."""
    return MetricDeclaration(name, MetricType.HISTOGRAM, text, labels, buckets)


BUILD_INFO = gauge(
    "build_info",
    "1 for the version of the program, and of the Python that runs it.",
    ("version", "python_version"),
)
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

FINDING = gauge(
    "finding",
    "1 for each finding on which an alert is to fire, from the leader alone; no series otherwise.",
    FINDING_SERIES_LABELS,
)
FINDINGS_COMPLETE = gauge(
    "findings_complete",
    "1 while this replica leads, and has evaluated the cluster and read earlier Events: a finding "
    "without a series is over then; 0 otherwise.",
)
REASON_STATE = gauge(
    "reason_state",
    "1 for each state that the reason has for some subject in the namespace; 0 for active, announced, "
    "suppressed and unknown ones otherwise, and for the others that it had, for an hour.",
    (*OWNED_LABELS, "state", "reads"),
)
SET_STATE = gauge(
    "inferenceset_reason_state",
    "1 for each state that the reason has for the InferenceSet, or a subject of another kind; 0 for "
    "those it had, for an hour.",
    (*SET_LABELS, "state"),
)
FINDING_SINCE = gauge(
    "finding_since_timestamp_seconds",
    "Unix time since which the trouble of a finding has existed, as far as is known.",
    SET_LABELS,
)
SUPPRESSION_INFO = gauge(
    "suppression_info",
    "1 for each reason and namespace that is suppressed, with the announced cause and its namespace.",
    ("cause", "cause_namespace", *FINDING_LABELS),
)
SETS_LEFT_OUT = gauge(
    "inferenceset_series_left_out",
    "Pairs of reason and InferenceSet, or subject of another kind, without series of their own, beyond "
    f"{SET_LIMIT:,} pairs.",
)
SUBJECTS = gauge(
    "subjects",
    "Subjects by the most important state among their reasons; while those of a layer cannot be listed "
    "it has no zeros.",
    ("layer", "state"),
)


SILENCES = gauge(
    "silences",
    "Silences that are written, by state: all but active silence nothing.",
    ("state",),
)
SILENCE_UNTIL = gauge(
    "silence_until_timestamp_seconds",
    "Unix time at which a silence ends; 0 for a malformed one. At most 500 series.",
    ("workload_namespace", "inferenceset", "reasons", "by", "origin", "state"),
)
MIRROR_WRITES = counter(
    "mirror_writes_total",
    "Requests to write an Event beside its InferenceSet, by result.",
    ("result",),
)


PASS_DURATION = histogram(
    "pass_duration_seconds",
    "Duration of evaluation passes.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)
LAST_PASS = gauge(
    "last_pass_timestamp_seconds",
    "Unix time at which the last evaluation pass ended.",
)
EVENT_LOOP_LAG = histogram(
    "event_loop_lag_seconds",
    "Time for which the asyncio event loop was busy without a break, while all else waited.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5),
)
LEADER = gauge(
    "leader",
    "1 if this replica is the leader, which writes Events; 0 otherwise.",
)
CLOCK_SKEW = gauge(
    "api_server_clock_skew_seconds",
    "Seconds by which the API server's clock is ahead of this machine's; negative if behind.",
)
CLOCK_SPREAD = gauge(
    "api_server_clock_spread_seconds",
    "Largest difference between the clock of one answer and that of most answers, for an API "
    "server of several whose clock is wrong.",
)
API_REQUESTS = counter(
    "api_requests_total",
    "Requests to the API server, by verb and status code; those without a response have code error.",
    ("verb", "code"),
)
EVENT_WRITES = counter("event_writes_total", "Requests to write an Event, by result.", ("result",))
SCRAPES = counter(
    "scrapes_total",
    "Attempts to read the metrics page of a model pod, by result.",
    ("result",),
)
SCRAPE_PAGES = gauge(
    "scrape_pages",
    "Metrics pages of model pods that are to be read, by the outcome of the last attempt.",
    ("outcome",),
)
SCRAPE_PAGE_AGE = gauge("scrape_page_max_age_seconds", "How old a metrics page may be.", ("path",))

CLOSED_CONNECTIONS = counter(
    "http_connections_closed_total",
    "Connections of HTTP clients that the reporter closed early, by cause.",
    ("cause",),
)

KIND_SERVED = gauge(
    "kind_served",
    "0 while discovery finds that the API server does not serve the kind; 1 otherwise.",
    ("kind",),
)
WATCH_UP = gauge(
    "watch_up",
    "1 from the opening of a watch of the kind until a list or watch of it fails, also while one that ended "
    "as usual is opened again; 0 otherwise.",
    ("kind",),
)
WATCH_LAST_EVENT_AGE = gauge(
    "watch_last_event_age_seconds",
    "Time since the last event or bookmark of the kind's watch, or since its list.",
    ("kind",),
)
OBJECTS = gauge("objects", "Objects of the kind in the store.", ("kind",))
RELISTS = counter("relists_total", "Lists of the kind after the first.", ("kind",))
WATCH_RESTARTS = counter("watch_restarts_total", "Watches of the kind after the first.", ("kind",))
WATCH_MISSED = counter(
    "watch_missed_total",
    "Lists of the kind because its watch missed a change, or delayed it by more than a second.",
    ("kind",),
)
DECODE_ERRORS = counter(
    "decode_errors_total",
    "Objects of the kind that could not be decoded, each time one was received.",
    ("kind",),
)
UNDECODABLE_OBJECTS = gauge(
    "undecodable_objects",
    "Objects of the kind whose newest version could not be decoded.",
    ("kind",),
)

MISSING_RIGHTS = gauge(
    "missing_rights",
    "1 while a permission that is needed is not granted, by its last review; 0 otherwise.",
    ("verb", "resource"),
)
UNKNOWN_RIGHTS = gauge(
    "unknown_rights",
    "Permissions that are needed and whose last review had no answer; all before the first one.",
)

ROLLUP_STATE = gauge(
    "rollup_state",
    "1 for the state of the cluster or of a workload namespace in the status; 0 for all others.",
    ("scope", "workload_namespace", "state"),
)
ROLLUP_INFERENCE_SETS = gauge(
    "rollup_inferencesets",
    "Subjects of the model layer by state in the status, such as InferenceSets, those of other kinds "
    "too; those of all namespaces have an empty namespace. While they cannot be listed there are no zeros.",
    ("workload_namespace", "state"),
)
ROLLUP_REPLICAS = gauge(
    "rollup_replicas",
    "Replicas of InferenceSets that are desired, updated and ready; no series where KAITO does not "
    "report them, or their objects cannot be read.",
    ("workload_namespace", "count"),
)
MODEL_LIMIT = 1_000
"""The InferenceSets that have series of their replicas, those that are not available first."""

SET_REPLICAS = gauge(
    "inferenceset_replicas",
    "Replicas of an InferenceSet that are desired and ready, from the leader alone; no series while they "
    f"are not known. At most {MODEL_LIMIT:,} InferenceSets, those that are not available first.",
    ("workload_namespace", "inferenceset", "count"),
)
SET_AVAILABLE = gauge(
    "inferenceset_available",
    "1 while requests of an InferenceSet of these, or a subject of another kind, can be answered; 0 while "
    "not; no series while that is not known.",
    ("workload_namespace", "inferenceset"),
)
ROLLUP_PACKAGE_INFO = gauge(
    "rollup_package_info",
    "1 for the package and revision of a workload namespace, with its state.",
    ("workload_namespace", "package", "revision", "state"),
)
ROLLUP_BLOCKING_INFO = gauge(
    "rollup_blocking_info",
    "1 for what keeps the cluster or a workload namespace from being Current.",
    ("scope", "workload_namespace", "reason", "code", "actionability", "stalled"),
)
ROLLUP_STALLED = gauge(
    "rollup_stalled",
    "1 for what keeps the cluster or a workload namespace from being Current for longer than it may, "
    "without what is silenced and what the cluster has already.",
    ("layer", "reason", "code", "owner", "workload_namespace"),
)
ROLLUP_STALLED_COMPLETE = gauge(
    "rollup_stalled_complete",
    "1 while findings are complete, and this status has been made for the longest window: what is stalled "
    "without a series is over then; 0 otherwise.",
)
ROLLUP_SILENCED_UNTIL = gauge(
    "rollup_blocking_silenced_until_timestamp_seconds",
    "Unix time at which the silence of what blocks the cluster or a workload namespace ends; no "
    "series while it is not silenced.",
    ("scope", "workload_namespace"),
)
ROLLUP_UNOBSERVED = gauge(
    "rollup_unobserved",
    "Workload namespaces that are Unknown, and layers whose subjects cannot all be listed, by what; 0 "
    "where there are none.",
    ("what",),
)
ROLLUP_MISSING_RIGHTS = gauge(
    "rollup_missing_rights",
    "1 for each permission that the reporter that made the status needs and has not.",
    ("right",),
)
ROLLUP_CLUSTER_INFO = gauge(
    "rollup_cluster_info",
    "1 for the version of the reporter that made the status.",
    ("version",),
)
ROLLUP_EVALUATED = gauge(
    "rollup_evaluated_timestamp_seconds",
    "Unix time of the pass that the status is about, with the UID of kube-system.",
    ("cluster_uid",),
)

STATUS_OBJECT_WRITES = counter(
    "status_object_writes_total",
    "Requests to write the status of a ProductionStackStatus, by result.",
    ("result",),
)
STATUS_OBJECTS_FAILING = gauge(
    "status_objects_failing",
    "ProductionStackStatuses whose last write failed; 0 on a replica that is not the leader.",
)

EPISODES = counter(
    "episodes_total",
    "Episodes that this replica has begun to announce.",
    ("reason",),
)
EPISODE_DURATION = histogram(
    "episode_duration_seconds",
    "Time from the first announcement of an episode to its end, on the replica that saw it end.",
    ("reason",),
    buckets=(60, 600, 3600, 21600, 86400),
)
STORE_UP = gauge(
    "store_up",
    "1 while the HealthEvents are watched and the last write of each succeeded; 0 otherwise.",
)
STORE_OBJECTS = gauge("store_objects", "HealthEvents by phase.", ("phase",))
STORE_WRITES = counter(
    "store_writes_total",
    "Requests to create, patch or delete a HealthEvent, by result.",
    ("result",),
)
STORE_REJECTED = counter(
    "store_rejected_total",
    "Episodes that had no place among the HealthEvents when they began, by the limit.",
    ("limit",),
)

OVERLAY_RELOADS = counter(
    "overlay_reloads_total",
    "Changes of the catalogue's overlay that were loaded while the process ran, by result.",
    ("result",),
)
OVERLAY_REFUSED = gauge(
    "overlay_refused",
    "1 while the catalogue's overlay is refused and an earlier one is in effect; 0 otherwise.",
)

METRICS: tuple[MetricDeclaration, ...] = tuple(
    each for each in globals().values() if isinstance(each, MetricDeclaration)
)
"""All declarations above, in their order; a test compares them with the page."""
