"""
What happens to pods beyond what the embedded controllers do: crashes, and the old that go first.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime

from reporter.embedded.controllers.workloads import template_hash
from reporter.embedded.schema import times
from reporter.embedded.schema.api_errors import Json
from reporter.embedded.storage.cluster import Cluster
from reporter.embedded.storage.storage import WatchQueue


BROKEN_TAG = "broken"
"""
The tag of images whose containers end with exit code 1 as soon as they start.
"""

CRASH_RESTARTS = 4
WATCHED_RESOURCES = ("deployments.apps", "pods")


async def run_kubelet(cluster: Cluster, *, now: Callable[[], datetime]) -> None:
    """
    Follow every change of a Deployment or a pod until cancelled.
    """
    changes: WatchQueue = asyncio.Queue()
    with ExitStack() as stack:
        for name in WATCHED_RESOURCES:
            collection = cluster.objects.collection(
                cluster.objects.registry.by_group_resource(name)
            )
            collection.watchers.add(changes)
            stack.callback(collection.watchers.discard, changes)
        while True:
            await changes.get()
            _crash_broken_pods(cluster, now())
            _delete_old_pods(cluster)


def _crash_broken_pods(cluster: Cluster, now: datetime) -> None:
    for pod in cluster.list("pods"):
        images = [container["image"] for container in pod["spec"]["containers"]]
        broken = any(image.endswith(f":{BROKEN_TAG}") for image in images)
        if broken and pod.get("status", {}).get("phase") == "Pending":
            meta, patch = pod["metadata"], {"status": _crash_loop_status(pod, now)}
            cluster.patch("pods", meta["namespace"], meta["name"], patch, subresource="status")


def _crash_loop_status(pod: Json, now: datetime) -> Json:
    stamp = times.format_time(now)
    ended = {"exitCode": 1, "reason": "Error", "startedAt": stamp, "finishedAt": stamp}
    statuses = [
        {
            **each,
            "restartCount": CRASH_RESTARTS,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": ended},
        }
        for each in pod["status"]["containerStatuses"]
    ]
    return {"phase": "Running", "containerStatuses": statuses}


def _delete_old_pods(cluster: Cluster) -> None:
    """
    Stop old pods at once where a Deployment allows all its replicas to be away.
    """
    for deployment in cluster.list("deployments.apps"):
        if not _allows_all_unavailable(deployment["spec"]):
            continue
        mark = template_hash(deployment)
        for pod in _pods(cluster, deployment):
            meta = pod["metadata"]
            if meta["labels"].get("pod-template-hash") != mark:
                cluster.delete("pods", meta["namespace"], meta["name"])


def _allows_all_unavailable(spec: Json) -> bool:
    strategy = spec.get("strategy", {})
    away = strategy.get("rollingUpdate", {}).get("maxUnavailable", 0)
    recreated: bool = strategy.get("type") == "Recreate"
    return recreated or (isinstance(away, int) and away >= spec["replicas"] > 0)


def _pods(cluster: Cluster, deployment: Json) -> list[Json]:
    wanted = deployment["spec"]["selector"]["matchLabels"].items()
    found = cluster.list("pods", deployment["metadata"]["namespace"])
    return [pod for pod in found if wanted <= (pod["metadata"].get("labels") or {}).items()]
