"""
Trouble of an InferencePool: its Gateways' reports, a selector without pods, a picker without Service.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from reporter.kinds.core import SERVICES, Pod, Service
from reporter.kinds.gateway_api import INFERENCE_POOLS, HTTPRoute, InferencePool
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Trouble
from reporter.resources.check_result import CheckResult, check_decoded, first_trouble
from reporter.resources.conditions import absence_of, object_trouble
from reporter.resources.inference_sets import without_leftover_pods
from reporter.resources.parents import (
    ParentControllers,
    find_parent_statuses,
    select_parent_status,
)
from reporter.resources.pods import is_leftover_pod
from reporter.resources.routes import PICKER_NOT_FOUND, evaluate_pool_status, picker_service
from reporter.snapshot.loading import is_leader_pod
from reporter.snapshot.snapshot import Snapshot


def evaluate_pool(
    snapshot: Snapshot,
    pool: InferencePool,
    routes: Iterable[tuple[HTTPRoute, ParentControllers]],
    pods: Sequence[Pod],
) -> CheckResult | None:
    """
    Return the first trouble of a pool, with the status entries before the selector and the picker.

    A selector without pods and a picker that does not exist need no controller to confirm them, so
    they count beside an old status.
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
    found = first_trouble(*results, _selector_trouble(pool, pods))
    # Last, so that Services that cannot be read hide no other trouble.
    return found if isinstance(found, Trouble) else _picker_trouble(snapshot, pool) or found


def _picker_trouble(snapshot: Snapshot, pool: InferencePool) -> CheckResult | None:
    """
    Return the trouble of a pool whose endpoint picker's Service does not exist.

    Istio looks for it only when the pool or a route changes, so its status is wrong both ways: a
    Service that was deleted is resolved, and one that came after its pool is not found
    (pilot/pkg/config/kube/gateway/inferencepool_collection.go reads Services without subscribing).
    """
    name = picker_service(pool)
    if not name:
        return None
    namespace = pool.metadata.namespace
    undecodable = check_decoded(snapshot, SERVICES, namespace, name)
    if undecodable or snapshot.get(SERVICES, Service, namespace, name) is not None:
        return undecodable
    missing = SERVICES.ref(namespace, name)
    absence = absence_of(snapshot, missing)
    state = f"has as its endpoint picker Service {name}, which {absence.describe()}"
    trouble = object_trouble(INFERENCE_POOLS, pool, PICKER_NOT_FOUND, absence.trouble_kind, state)
    # The startup grace counts from when the Service went missing, not from the pool's creation.
    return replace(trouble, object_created_at=None, missing=missing)


def _selector_trouble(pool: InferencePool, pods: Sequence[Pod]) -> Trouble | None:
    """
    Return the trouble of a pool whose selector matches no pod although model pods run.

    No controller reports this. Without a running model pod it is no fault of the routing.
    """
    selector = tuple((pool.spec.selector.match_labels or {}).items())
    for pod in pods:
        # Nearly every pod matches, so only the first is checked for being a leftover one.
        # Unlike `has_labels`, a selector tells a missing label from an empty one.
        labels = pod.metadata.labels or {}
        if all(labels.get(k) == v for k, v in selector) and not is_leftover_pod(pod):
            return None
    remaining = without_leftover_pods(pods)
    running = sum(pod.status.phase == "Running" and is_leader_pod(pod) for pod in remaining)
    if not running:
        return None
    model_pods = "1 model pod is" if running == 1 else f"{running} model pods are"
    state = f"selector matches no pod while {model_pods} running"
    return object_trouble(INFERENCE_POOLS, pool, "SelectsNothing", TroubleKind.FAILED, state)
