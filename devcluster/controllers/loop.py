"""
The loop of the controllers in memory: it keeps pods and status of all Deployments up to date.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from devcluster.controllers.deployment import (
    ControllerWrite,
    DeletePod,
    SetStatus,
    UpsertObject,
    reconcile_deployment,
)
from devcluster.controllers.workloads import controller_uid
from devcluster.schema.api_errors import Json
from devcluster.storage.cluster import Cluster


DEPLOYMENTS = "deployments.apps"
REPLICA_SETS = "replicasets.apps"
POD_STARTUP = timedelta(seconds=3)
"""Time from the creation of a pod until it is ready."""


async def run_controllers(
    cluster: Cluster, *, now: Callable[[], datetime], start: timedelta = POD_STARTUP
) -> None:
    """Reconcile after every change of a Deployment, ReplicaSet or pod until cancelled."""
    with cluster.changes(DEPLOYMENTS, REPLICA_SETS, "pods") as changes:
        while True:
            requeue_at = reconcile(cluster, now=now(), start=start)
            wait = max((requeue_at - now()).total_seconds(), 0.0) if requeue_at else None
            with suppress(TimeoutError):
                await asyncio.wait_for(changes.get(), wait)


def reconcile(cluster: Cluster, *, now: datetime, start: timedelta) -> datetime | None:
    """Reconcile all Deployments once. Return when to do so again if nothing changes until then."""
    _collect_garbage(cluster)
    sets_by_owner = _group_by_controller(cluster.list(REPLICA_SETS))
    pods_by_owner = _group_by_controller(cluster.list("pods"))
    requeue_times = []
    for deployment in cluster.list(DEPLOYMENTS):
        replica_sets = sets_by_owner[deployment["metadata"]["uid"]]
        owned_pods = [pod for one in replica_sets for pod in pods_by_owner[one["metadata"]["uid"]]]
        result = reconcile_deployment(deployment, replica_sets, owned_pods, now=now, start=start)
        for write in result.writes:
            _apply_write(cluster, write)
        requeue_times.append(result.requeue_at)
    return min((time for time in requeue_times if time), default=None)


def _group_by_controller(manifests: list[Json]) -> defaultdict[str, list[Json]]:
    grouped: defaultdict[str, list[Json]] = defaultdict(list)
    for manifest in manifests:
        grouped[controller_uid(manifest)].append(manifest)
    return grouped


def _collect_garbage(cluster: Cluster) -> None:
    """Delete ReplicaSets whose Deployment was deleted, and pods whose ReplicaSet was."""
    for resource, owner_resource, kind in (
        (REPLICA_SETS, DEPLOYMENTS, "Deployment"),
        ("pods", REPLICA_SETS, "ReplicaSet"),
    ):
        alive = {one["metadata"]["uid"] for one in cluster.list(owner_resource)}
        for one in cluster.list(resource):
            meta = one["metadata"]
            owners = [r["uid"] for r in meta.get("ownerReferences", []) if r["kind"] == kind]
            if owners and not alive.intersection(owners):
                cluster.delete(resource, meta["namespace"], meta["name"])


def _apply_write(cluster: Cluster, write: ControllerWrite) -> None:
    match write:
        case UpsertObject(manifest):
            cluster.upsert(manifest)
        case DeletePod(one):
            cluster.delete("pods", one["metadata"]["namespace"], one["metadata"]["name"])
        case SetStatus(resource, manifest, status):
            meta = manifest["metadata"]
            patch = {"status": status}
            cluster.patch(resource, meta["namespace"], meta["name"], patch, subresource="status")
