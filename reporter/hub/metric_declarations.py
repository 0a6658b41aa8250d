"""
The metrics of the hub. Those about clusters come from the leader alone, as only it asks.

The label ``hub`` is the Lease of the hub, NAMESPACE/NAME: alerts tell by it several hubs of one engine apart.
"""

from reporter.metrics.declarations import MetricDeclaration, MetricType


HUB_LEADER = MetricDeclaration(
    "hub_leader",
    MetricType.GAUGE,
    "1 if this replica of the hub is the leader, which asks the metrics engine; 0 otherwise.",
    ("hub",),
)
HUB_CLUSTERS = MetricDeclaration(
    "hub_clusters",
    MetricType.GAUGE,
    "Clusters that the hub answers for, by state.",
    ("hub", "state"),
)
HUB_CLUSTER = MetricDeclaration(
    "hub_cluster",
    MetricType.GAUGE,
    "1 for each cluster, with its state and why the hub itself calls it Unknown; who must act on what "
    "blocks it, and whether that is silenced; and whether all below its control plane is known, or "
    "nothing where that is not reported.",
    ("hub", "cluster", "state", "code", "owner", "silenced", "observed"),
)
HUB_UNKNOWN_CLUSTERS = MetricDeclaration(
    "hub_unknown_clusters",
    MetricType.GAUGE,
    "Clusters that the hub itself calls Unknown, by why.",
    ("code",),
)
HUB_DROPPED_SERIES = MetricDeclaration(
    "hub_dropped_series_total",
    MetricType.COUNTER,
    "Series of answers that were left out, by why; each answer counts again.",
    ("why",),
)
HUB_QUERY_RESULTS = MetricDeclaration(
    "hub_query_results_total",
    MetricType.COUNTER,
    "Queries of the metrics engine, by result; only complete answers are used.",
    ("query", "result"),
)
HUB_LAST_SUCCESS = MetricDeclaration(
    "hub_last_success_timestamp_seconds",
    MetricType.GAUGE,
    "Unix time of the last complete answer about clusters; no series before the first one of a leader.",
    ("hub",),
)
HUB_ROUND_DURATION = MetricDeclaration(
    "hub_round_duration_seconds",
    MetricType.HISTOGRAM,
    "Duration of rounds of queries, with the evaluation of their answers.",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
HUB_OBJECT_WRITES = MetricDeclaration(
    "hub_object_writes_total",
    MetricType.COUNTER,
    "Requests to write the status of a ProductionStackCluster, by result.",
    ("result",),
)
HUB_OBJECTS_FAILING = MetricDeclaration(
    "hub_objects_failing",
    MetricType.GAUGE,
    "ProductionStackClusters whose last write failed; 0 on a replica that is not the leader.",
)

HUB_METRICS: tuple[MetricDeclaration, ...] = (
    HUB_LEADER,
    HUB_CLUSTERS,
    HUB_CLUSTER,
    HUB_UNKNOWN_CLUSTERS,
    HUB_DROPPED_SERIES,
    HUB_QUERY_RESULTS,
    HUB_LAST_SUCCESS,
    HUB_ROUND_DURATION,
    HUB_OBJECT_WRITES,
    HUB_OBJECTS_FAILING,
)
"""All of them; a test compares this list with the page of the hub."""
