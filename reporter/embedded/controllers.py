"""
The loop that makes the example stack live: Deployments are followed by pods and status.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta

from reporter.embedded.cluster import Cluster
from reporter.embedded.deployment_controller import Delete, Put, SetStatus, Write, step
from reporter.embedded.statuses import Json
from reporter.embedded.storage import Delivery
from reporter.embedded.workloads import controller_uid


DEPLOYMENTS = "deployments.apps"
SETS = "replicasets.apps"
START = timedelta(seconds=3)
"""
How long a pod of the demo takes to become ready.
"""


async def run(cluster: Cluster, *, now: Callable[[], datetime], start: timedelta = START) -> None:
    """
    Follow every change of a Deployment or a pod until cancelled.
    """
    changes: Delivery = asyncio.Queue()
    followed = [
        cluster.objects.collection(cluster.objects.registry.named(name))
        for name in (DEPLOYMENTS, SETS, "pods")
    ]
    for collection in followed:
        collection.watchers.add(changes)
    try:
        while True:
            due = settle(cluster, now=now(), start=start)
            wait = max((due - now()).total_seconds(), 0.0) if due else None
            try:
                await asyncio.wait_for(changes.get(), wait)
            except TimeoutError:
                continue
    finally:
        for collection in followed:
            collection.watchers.discard(changes)


def settle(cluster: Cluster, *, now: datetime, start: timedelta) -> datetime | None:
    """
    One round over all Deployments; answers when the next is due by time alone.
    """
    _collect_garbage(cluster)
    sets, pods = _by_controller(cluster.list(SETS)), _by_controller(cluster.list("pods"))
    dues = []
    for deployment in cluster.list(DEPLOYMENTS):
        owned = sets[deployment["metadata"]["uid"]]
        theirs = [pod for one in owned for pod in pods[one["metadata"]["uid"]]]
        result = step(deployment, owned, theirs, now=now, start=start)
        for write in result.writes:
            _apply(cluster, write)
        dues.append(result.due)
    return min((due for due in dues if due), default=None)


def _by_controller(manifests: list[Json]) -> defaultdict[str, list[Json]]:
    found: defaultdict[str, list[Json]] = defaultdict(list)
    for manifest in manifests:
        found[controller_uid(manifest)].append(manifest)
    return found


def _collect_garbage(cluster: Cluster) -> None:
    """
    Delete the ReplicaSets of Deployments that are gone, and the pods of ReplicaSets that are.
    """
    for resource, owner_resource, kind in (
        (SETS, DEPLOYMENTS, "Deployment"),
        ("pods", SETS, "ReplicaSet"),
    ):
        alive = {one["metadata"]["uid"] for one in cluster.list(owner_resource)}
        for one in cluster.list(resource):
            meta = one["metadata"]
            owners = [r["uid"] for r in meta.get("ownerReferences", []) if r["kind"] == kind]
            if owners and not alive.intersection(owners):
                cluster.delete(resource, meta["namespace"], meta["name"])


def _apply(cluster: Cluster, write: Write) -> None:
    match write:
        case Put(manifest):
            cluster.put(manifest)
        case Delete(one):
            cluster.delete("pods", one["metadata"]["namespace"], one["metadata"]["name"])
        case SetStatus(resource, manifest, status):
            meta = manifest["metadata"]
            patch = {"status": status}
            cluster.patch(resource, meta["namespace"], meta["name"], patch, subresource="status")
