"""The next writes of the controllers and the kubelet for one Deployment. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from devcluster.controllers.workloads import (
    controller_uid,
    deployment_status,
    is_ready,
    new_pod,
    new_replica_set,
    running_status,
    template_hash,
    with_pods,
)
from devcluster.schema import times
from devcluster.schema.api_errors import Json


@dataclass(frozen=True, slots=True)
class UpsertObject:
    manifest: Json


@dataclass(frozen=True, slots=True)
class DeletePod:
    pod: Json


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Write the status of a Deployment or a pod."""

    resource: str
    manifest: Json
    status: Json


ControllerWrite = UpsertObject | DeletePod | SetStatus


@dataclass(frozen=True, slots=True)
class ReconcileResult:
    writes: tuple[ControllerWrite, ...]
    requeue_at: datetime | None
    """The time to reconcile again even if nothing changes."""


def reconcile_deployment(
    deployment: Json,
    replica_sets: list[Json],
    pods: list[Json],
    *,
    now: datetime,
    start: timedelta,
) -> ReconcileResult:
    """
    Return the next writes for a Deployment with its ReplicaSets and their pods.

    A pod becomes ready *start* after its creation. Pods of older templates are deleted once enough
    new ones are ready.
    """
    wanted = deployment["spec"]["replicas"]
    current_hash = template_hash(deployment)
    current_set = _find_current_set(replica_sets, current_hash)
    if current_set is None:
        return ReconcileResult((UpsertObject(new_replica_set(deployment)),), None)
    stopping = [pod for pod in pods if "deletionTimestamp" in pod["metadata"]]
    alive, started = _start_pods(
        [pod for pod in pods if pod not in stopping], now=now, start=start
    )
    new, old = _split_by_template(alive, current_hash)
    surplus = _surplus_pods(new, old, wanted)
    missing = _new_pods(deployment, current_set, wanted - len(new), now)
    remaining = [pod for pod in alive if pod not in surplus] + missing
    writes: list[ControllerWrite] = [DeletePod(pod) for pod in (*stopping, *surplus)]
    writes += [SetStatus("pods", pod, pod["status"]) for pod in started if pod in remaining]
    writes += [UpsertObject(pod) for pod in missing]
    writes += _replica_set_writes(replica_sets, remaining, current_set, wanted)
    writes += _status_writes(deployment, remaining, now)
    return ReconcileResult(tuple(writes), _next_ready_at(remaining, start))


def _new_pods(deployment: Json, current_set: Json, count: int, now: datetime) -> list[Json]:
    return [
        new_pod(deployment, current_set, f"{now.isoformat()}-{index}", now)
        for index in range(max(count, 0))
    ]


def _find_current_set(replica_sets: list[Json], current_hash: str) -> Json | None:
    for replica_set in replica_sets:
        if replica_set["metadata"]["name"].endswith(f"-{current_hash}"):
            return replica_set
    return None


def _replica_set_writes(
    replica_sets: list[Json], pods: list[Json], current_set: Json, wanted: int
) -> list[ControllerWrite]:
    """Return an update of each ReplicaSet whose pod counts have changed."""
    writes: list[ControllerWrite] = []
    for replica_set in replica_sets:
        its_pods = [p for p in pods if controller_uid(p) == replica_set["metadata"]["uid"]]
        counted = with_pods(
            replica_set, its_pods, wanted if replica_set is current_set else len(its_pods)
        )
        if counted != replica_set:
            writes.append(UpsertObject(counted))
    return writes


def _start_pods(
    pods: list[Json], *, now: datetime, start: timedelta
) -> tuple[list[Json], list[Json]]:
    """Return all pods, and those of them that have become ready since the last round."""
    after, started = [], []
    for pod in pods:
        if _is_starting(pod) and now >= _ready_at(pod, start):
            pod = {**pod, "status": running_status(pod, now)}
            started.append(pod)
        after.append(pod)
    return after, started


def _is_starting(pod: Json) -> bool:
    return not is_ready(pod) and pod.get("status", {}).get("phase") == "Pending"


def _ready_at(pod: Json, start: timedelta) -> datetime:
    created = times.parse_stored_time(pod["metadata"]["creationTimestamp"])
    assert created is not None  # noqa: S101 - every stored object has it
    return created + start


def _split_by_template(pods: list[Json], current_hash: str) -> tuple[list[Json], list[Json]]:
    new = [
        pod for pod in pods if pod["metadata"]["labels"].get("pod-template-hash") == current_hash
    ]
    return new, [pod for pod in pods if pod not in new]


def _surplus_pods(new: list[Json], old: list[Json], wanted: int) -> list[Json]:
    ready = [pod for pod in new if is_ready(pod)]
    replaced = old if len(ready) >= wanted else []
    surplus = sorted(new, key=is_ready)[: max(len(new) - wanted, 0)]
    return [*surplus, *replaced]


def _status_writes(deployment: Json, pods: list[Json], now: datetime) -> list[ControllerWrite]:
    status = deployment_status(deployment, pods, now)
    stored = {key: value for key, value in status.items() if value != 0}
    if stored == deployment.get("status", {}):
        return []
    return [SetStatus("deployments.apps", deployment, status)]


def _next_ready_at(pods: list[Json], start: timedelta) -> datetime | None:
    return min((_ready_at(pod, start) for pod in pods if _is_starting(pod)), default=None)
