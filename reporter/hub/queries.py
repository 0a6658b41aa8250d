"""
The queries in PromQL: three a round, however many clusters there are, and one for detail on demand.
"""

import json

from reporter.hub.query_results import (
    BLOCKING_INFO,
    CLUSTER_INFO,
    EVALUATED,
    INFERENCE_SETS,
    PACKAGE_INFO,
    PREFIX,
    REPLICAS,
    SILENCED_UNTIL,
    STATE,
)
from reporter.model.fleet_status import QueryName


SERIES_LIMIT = 50_000
"""Series at most of the queries that decide no state."""


def _any(*metrics: str) -> str:
    return f'__name__=~"{PREFIX}({"|".join(metrics)})"'


CLUSTERS = (
    f'{{{_any(REPLICAS, CLUSTER_INFO, EVALUATED, INFERENCE_SETS)},workload_namespace=""}}'
    f' or {{{_any(STATE)},workload_namespace=""}} == 1'
)
"""
Zeros of the state set are left out. Those of InferenceSets tell that the numbers are known: a reporter that
may not list them writes none.
"""

TROUBLE = (
    f'{PREFIX}{BLOCKING_INFO} == 1 or {PREFIX}{STATE}{{scope="namespace",state!="current"}} == 1'
    f" or {PREFIX}{SILENCED_UNTIL}"
)


def revisions(label: str) -> str:
    """Return the query for packages. A namespace counts once, however many sources report it."""
    by = f"{label},package,revision,state"
    return f"count by ({by}) (max by ({by},workload_namespace) ({PREFIX}{PACKAGE_INFO} == 1))"


def of_cluster(label: str, cluster: str) -> str:
    """Return the query for the namespaces of one cluster. Its name may be any text."""
    metrics = _any(STATE, BLOCKING_INFO, SILENCED_UNTIL, INFERENCE_SETS, REPLICAS, PACKAGE_INFO)
    return (
        f'{{{metrics},workload_namespace!="",{label}={json.dumps(cluster, ensure_ascii=False)}}}'
    )


def of_round(label: str) -> dict[QueryName, str]:
    """Return the queries of a round, in the order in which to ask them."""
    return {
        QueryName.CLUSTERS: CLUSTERS,
        QueryName.TROUBLE: TROUBLE,
        QueryName.REVISIONS: revisions(label),
    }
