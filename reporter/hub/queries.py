"""
The queries in PromQL: three a round, however many clusters there are, and one for detail on demand.

Where no object names the clusters, one more at the start asks which have been there.
"""

import json

from reporter.model.fleet_status import QueryName


NAME = "__name__"
PREFIX = "productionstack_status_reporter_rollup_"
"""
The prefix of the metrics of the status. A test compares it and the names with their declarations.
"""

STATE, INFERENCE_SETS, REPLICAS = "state", "inferencesets", "replicas"
PACKAGE_INFO, BLOCKING_INFO, CLUSTER_INFO = "package_info", "blocking_info", "cluster_info"
UNOBSERVED, MISSING_RIGHTS = "unobserved", "missing_rights"
SILENCED_UNTIL = "blocking_silenced_until_timestamp_seconds"
EVALUATED = "evaluated_timestamp_seconds"

CLUSTER_SCOPE = "cluster"
"""The value of the label ``scope`` of series about a control plane."""

UNKNOWN_NAMESPACES, UNLISTED_LAYERS = "namespaces", "layers"
"""The values of the label ``what`` of the series about what is not observed."""

METRIC_LABELS = frozenset(
    {
        NAME, "scope", "workload_namespace", "state", "count", "package", "revision", "reason",
        "code", "actionability", "stalled", "version", "cluster_uid", "what", "right",
    }
)  # fmt: skip
"""The labels of the metrics themselves. All others are of the target, or of the pipeline."""

SERIES_LIMIT = 50_000
"""Series at most of the queries that decide no state."""


def _any(*metrics: str) -> str:
    return f'__name__=~"{PREFIX}({"|".join(metrics)})"'


_OF_CLUSTER = _any(REPLICAS, CLUSTER_INFO, EVALUATED, INFERENCE_SETS, UNOBSERVED, MISSING_RIGHTS)
CLUSTERS = (
    f'{{{_OF_CLUSTER},workload_namespace=""}} or {{{_any(STATE)},workload_namespace=""}} == 1'
)
"""
Zeros of the state set are left out. Those of InferenceSets tell that the numbers are known: a reporter that
may not list them writes none.
"""

TROUBLE = (
    f'{PREFIX}{BLOCKING_INFO} == 1 or {PREFIX}{STATE}{{scope="namespace",state!="current"}} == 1'
    f" or {PREFIX}{SILENCED_UNTIL}"
)


def of_cluster(label: str, cluster: str) -> str:
    """
    Return the query for the namespaces of one cluster.

    *label*: the name of the cluster label. *cluster*: its value, which may be any text.
    """
    metrics = _any(STATE, BLOCKING_INFO, SILENCED_UNTIL, INFERENCE_SETS, REPLICAS, PACKAGE_INFO)
    return (
        f'{{{metrics},workload_namespace!="",{label}={json.dumps(cluster, ensure_ascii=False)}}}'
    )


def of_round(label: str) -> dict[QueryName, str]:
    """
    Return the queries of a round, in the order in which to ask them.

    A namespace counts once among the packages, however many sources report it.
    """
    by = f"{label},package,revision,state"
    packages = f"max by ({by},workload_namespace) ({PREFIX}{PACKAGE_INFO} == 1)"
    return {
        QueryName.CLUSTERS: CLUSTERS,
        QueryName.TROUBLE: TROUBLE,
        QueryName.REVISIONS: f"count by ({by}) ({packages})",
    }


HISTORY_STEPS = 336
"""The moments of the past at which the history looks for clusters: of two weeks one an hour."""

RECENT = 7200
"""Seconds of the past in which the history misses no cluster that was there between two of these moments."""

LEAST_STEP = 300
"""Seconds for which an engine shows a series after its last sample."""


def of_history(label: str, seconds: int) -> str:
    """Return the query for when each cluster was last there within so many *seconds*, as Unix time."""
    step = max(seconds // HISTORY_STEPS, LEAST_STEP)
    metric, recent = f"{PREFIX}{EVALUATED}", min(seconds, RECENT)
    times = f"max_over_time(timestamp({metric})[{seconds}s:{step}s])"
    # By the clock of the cluster, which may be wrong.
    between = f"clamp_min(max_over_time({metric}[{recent}s]), time() - {recent})"
    return f"max by ({label}) ({times} or {between})"
