"""
The loop that makes the example stack live: Deployments are followed by pods and status.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta

from reporter.embedded.controllers.deployment import (
    ControllerWrite,
    DeletePod,
    SetStatus,
    UpsertObject,
    reconcile_deployment,
)
from reporter.embedded.controllers.workloads import controller_uid
from reporter.embedded.schema.api_errors import Json
from reporter.embedded.storage.cluster import Cluster
from reporter.embedded.storage.storage import WatchQueue


DEPLOYMENTS = "deployments.apps"
REPLICA_SETS = "replicasets.apps"
POD_STARTUP = timedelta(seconds=3)
"""
How long a pod of the demo takes to become ready.
"""


async def run_controllers(
    cluster: Cluster, *, now: Callable[[], datetime], start: timedelta = POD_STARTUP
) -> None:
    """
    Follow every change of a Deployment or a pod until cancelled.
    """
    changes: WatchQueue = asyncio.Queue()
    followed = [
        cluster.objects.collection(cluster.objects.registry.by_group_resource(name))
        for name in (DEPLOYMENTS, REPLICA_SETS, "pods")
    ]
    for collection in followed:
        collection.watchers.add(changes)
    try:
        while True:
            due = reconcile(cluster, now=now(), start=start)
            wait = max((due - now()).total_seconds(), 0.0) if due else None
            try:
                await asyncio.wait_for(changes.get(), wait)
            except TimeoutError:
                continue
    finally:
        for collection in followed:
            collection.watchers.discard(changes)


def reconcile(cluster: Cluster, *, now: datetime, start: timedelta) -> datetime | None:
    """
    One round over all Deployments; answers when the next is due by time alone.
    """
    _collect_garbage(cluster)
    sets, pods = (
        _group_by_controller(cluster.list(REPLICA_SETS)),
        _group_by_controller(cluster.list("pods")),
    )
    dues = []
    for deployment in cluster.list(DEPLOYMENTS):
        owned = sets[deployment["metadata"]["uid"]]
        theirs = [pod for one in owned for pod in pods[one["metadata"]["uid"]]]
        result = reconcile_deployment(deployment, owned, theirs, now=now, start=start)
        for write in result.writes:
            _apply_write(cluster, write)
        dues.append(result.requeue_at)
    return min((due for due in dues if due), default=None)


def _group_by_controller(manifests: list[Json]) -> defaultdict[str, list[Json]]:
    found: defaultdict[str, list[Json]] = defaultdict(list)
    for manifest in manifests:
        found[controller_uid(manifest)].append(manifest)
    return found


def _collect_garbage(cluster: Cluster) -> None:
    """
    Delete the ReplicaSets of Deployments that are gone, and the pods of ReplicaSets that are.
    """
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
