"""
Trouble of an InferencePool: what its Gateways' controllers report, and a selector without pods.
"""

from collections.abc import Iterable, Sequence

from reporter.model.enums import TroubleKind
from reporter.model.kinds.core.pods import Pod
from reporter.model.kinds.gateway_api.http_routes import HTTPRoute
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS, InferencePool
from reporter.model.verdicts import Trouble
from reporter.stages.resources.check_result import CheckResult, first_trouble
from reporter.stages.resources.gateway.parents import (
    ParentControllers,
    find_parent_statuses,
    select_parent_status,
)
from reporter.stages.resources.gateway.route_status import evaluate_pool_status, routing_trouble
from reporter.stages.resources.kaito.inference_sets import without_leftover_pods
from reporter.stages.resources.workloads.pods import is_leftover_pod
from reporter.stages.snapshot.loading import is_leader_pod


def evaluate_pool(
    pool: InferencePool, routes: Iterable[tuple[HTTPRoute, ParentControllers]], pods: Sequence[Pod]
) -> CheckResult | None:
    """
    Return the first trouble of a pool, with the status entries before the selector.

    A selector without pods needs no controller to confirm it, so it counts beside an old status.
    *routes*: the routes to the pool with their parents. *pods*: all pods of the InferenceSet.
    """
    results = []
    for route, parents in routes:
        for parent, controller_name in parents:
            # A pool's status names the Gateway, never its listener (sectionName, port).
            gateway = (parent.namespace or route.metadata.namespace, parent.name)
            entries = find_parent_statuses(pool.status, pool.metadata.namespace, gateway)
            entry = select_parent_status(entries, controller_name)
            results.append(evaluate_pool_status(pool, entry, parent.name))
    return first_trouble(*results, _selector_trouble(pool, pods))


def _selector_trouble(pool: InferencePool, pods: Sequence[Pod]) -> Trouble | None:
    """
    Return the trouble of a pool whose selector matches no pod although model pods run.

    No controller reports this. Without a running model pod it is no fault of the routing.
    """
    selector = (pool.spec.selector.match_labels or {}).items()
    for pod in pods:
        # Nearly every pod matches, so only the first is checked for being a leftover one.
        if selector <= (pod.metadata.labels or {}).items() and not is_leftover_pod(pod):
            return None
    remaining = without_leftover_pods(pods)
    running = sum(pod.status.phase == "Running" and is_leader_pod(pod) for pod in remaining)
    if not running:
        return None
    model_pods = "1 model pod is" if running == 1 else f"{running} model pods are"
    state = f"selector matches no pod while {model_pods} running"
    return routing_trouble(INFERENCE_POOLS, pool, "SelectsNothing", TroubleKind.FAILED, state)
