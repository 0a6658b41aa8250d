"""The metrics of silences and of mirrored Events."""

from reporter.sinks.metrics.declarations.declaration import MetricDeclaration, MetricType


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
