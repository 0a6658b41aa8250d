"""
What the controllers and the kubelet would do next about one Deployment. Pure.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from reporter.embedded.controllers.workloads import (
    controller_uid,
    deployment_status,
    is_ready,
    new_pod,
    new_replica_set,
    running_status,
    template_hash,
    with_pods,
)
from reporter.embedded.schema import times
from reporter.embedded.schema.api_errors import Json


@dataclass(frozen=True, slots=True)
class UpsertObject:
    manifest: Json


@dataclass(frozen=True, slots=True)
class DeletePod:
    pod: Json


@dataclass(frozen=True, slots=True)
class SetStatus:
    """
    Write the status of a Deployment or a pod.
    """

    resource: str
    manifest: Json
    status: Json


ControllerWrite = UpsertObject | DeletePod | SetStatus


@dataclass(frozen=True, slots=True)
class ReconcileResult:
    writes: tuple[ControllerWrite, ...]
    requeue_at: datetime | None
    """
    When there is more to do even if nothing changes.
    """


def reconcile_deployment(
    deployment: Json, owned: list[Json], pods: list[Json], *, now: datetime, start: timedelta
) -> ReconcileResult:
    """
    The next writes; *owned* are the Deployment's ReplicaSets and *pods* theirs.

    A pod becomes ready *start* after it was created. Old pods go once enough new ones are ready.
    """
    wanted = deployment["spec"]["replicas"]
    mark = template_hash(deployment)
    present = [one for one in owned if one["metadata"]["name"].endswith(f"-{mark}")]
    if not present:
        return ReconcileResult((UpsertObject(new_replica_set(deployment)),), None)
    stopping = [one for one in pods if "deletionTimestamp" in one["metadata"]]
    alive = [one for one in pods if "deletionTimestamp" not in one["metadata"]]
    alive, started = _start_pods(alive, now=now, start=start)
    new, old = _split_by_template(alive, mark)
    superfluous = _surplus_pods(new, old, wanted)
    missing = [
        new_pod(deployment, present[0], f"{now.isoformat()}-{at}", now)
        for at in range(max(wanted - len(new), 0))
    ]
    left = [one for one in alive if one not in superfluous] + missing
    writes: list[ControllerWrite] = [DeletePod(one) for one in (*stopping, *superfluous)]
    writes += [SetStatus("pods", one, one["status"]) for one in started if one in left]
    writes += [UpsertObject(one) for one in missing]
    writes += _replica_set_writes(owned, left, present[0], wanted)
    writes += _status_writes(deployment, left, now)
    return ReconcileResult(tuple(writes), _next_ready_at(left, start))


def _replica_set_writes(
    owned: list[Json], pods: list[Json], present: Json, wanted: int
) -> list[ControllerWrite]:
    """
    The ReplicaSets whose numbers of pods are no longer right.
    """
    writes: list[ControllerWrite] = []
    for one in owned:
        mine = [p for p in pods if controller_uid(p) == one["metadata"]["uid"]]
        counted = with_pods(one, mine, wanted if one is present else len(mine))
        if counted != one:
            writes.append(UpsertObject(counted))
    return writes


def _start_pods(
    pods: list[Json], *, now: datetime, start: timedelta
) -> tuple[list[Json], list[Json]]:
    """
    The pods as they are now, and those of them that have just become ready.
    """
    after, started = [], []
    for one in pods:
        if _is_starting(one) and now >= _ready_at(one, start):
            one = {**one, "status": running_status(one, now)}
            started.append(one)
        after.append(one)
    return after, started


def _is_starting(one: Json) -> bool:
    return not is_ready(one) and one.get("status", {}).get("phase") == "Pending"


def _ready_at(one: Json, start: timedelta) -> datetime:
    born = times.parse_stored_time(one["metadata"]["creationTimestamp"])
    assert born is not None  # noqa: S101 - every stored object has it
    return born + start


def _split_by_template(pods: list[Json], mark: str) -> tuple[list[Json], list[Json]]:
    new = [one for one in pods if one["metadata"]["labels"].get("pod-template-hash") == mark]
    return new, [one for one in pods if one not in new]


def _surplus_pods(new: list[Json], old: list[Json], wanted: int) -> list[Json]:
    ready = [one for one in new if is_ready(one)]
    replaced = old if len(ready) >= wanted else []
    surplus = sorted(new, key=is_ready)[: max(len(new) - wanted, 0)]
    return [*surplus, *replaced]


def _status_writes(deployment: Json, pods: list[Json], now: datetime) -> list[ControllerWrite]:
    status = deployment_status(deployment, pods, now)
    shown = {key: value for key, value in status.items() if value != 0}
    if shown == deployment.get("status", {}):
        return []
    return [SetStatus("deployments.apps", deployment, status)]


def _next_ready_at(pods: list[Json], start: timedelta) -> datetime | None:
    return min((_ready_at(one, start) for one in pods if _is_starting(one)), default=None)
