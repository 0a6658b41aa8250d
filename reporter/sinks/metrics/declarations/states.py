"""
The metrics of the states of reasons.

Series of InferenceSets are there only for what is not clear, or was within the hour, so their number
grows with trouble and not with InferenceSets; SET_LIMIT bounds it.
"""

from reporter.sinks.metrics.declarations.declaration import MetricDeclaration, MetricType


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

FINDING = MetricDeclaration(
    "finding",
    MetricType.GAUGE,
    "1 while trouble has outlived its hold, announced or not; 0 otherwise.",
    FINDING_LABELS,
)
HELD = MetricDeclaration(
    "held",
    MetricType.GAUGE,
    "1 while trouble has not lasted as long as its hold; 0 otherwise.",
    FINDING_LABELS,
)
SUPPRESSED = MetricDeclaration(
    "suppressed",
    MetricType.GAUGE,
    "1 while trouble is not announced because what it depends on is out; 0 otherwise.",
    FINDING_LABELS,
)
SILENCED = MetricDeclaration(
    "silenced",
    MetricType.GAUGE,
    "1 while all trouble of the series that has outlived its hold is silenced; 0 otherwise.",
    FINDING_LABELS,
)
UNKNOWN = MetricDeclaration(
    "unknown",
    MetricType.GAUGE,
    "1 while the reason cannot be evaluated, for example for want of a permission; 0 otherwise.",
    FINDING_LABELS,
)
REASON_STATE = MetricDeclaration(
    "reason_state",
    MetricType.GAUGE,
    "1 for each state that the reason has for some subject in the namespace; 0 for all others.",
    (*OWNED_LABELS, "state"),
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
    HELD,
    SUPPRESSED,
    SILENCED,
    UNKNOWN,
    REASON_STATE,
    SET_STATE,
    FINDING_SINCE,
    SUPPRESSION_INFO,
    SETS_LEFT_OUT,
    SUBJECTS,
)
