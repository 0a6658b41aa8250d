"""The kubelet of the demo: containers of a broken image crash, and replaced pods stop at once."""

from collections.abc import Callable
from datetime import datetime

from devcluster.controllers.workloads import template_hash
from devcluster.schema import times
from devcluster.schema.api_errors import Json
from devcluster.storage.cluster import Cluster


BROKEN_TAG = "broken"
"""Containers of images with this tag end with exit code 1 as soon as they start."""

CRASH_RESTARTS = 4


async def run_kubelet(cluster: Cluster, *, now: Callable[[], datetime]) -> None:
    """React to every change of a Deployment or a pod until cancelled."""
    with cluster.changes("deployments.apps", "pods") as changes:
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
    terminated = {"exitCode": 1, "reason": "Error", "startedAt": stamp, "finishedAt": stamp}
    statuses = [
        {
            **status,
            "restartCount": CRASH_RESTARTS,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": terminated},
        }
        for status in pod["status"]["containerStatuses"]
    ]
    return {"phase": "Running", "containerStatuses": statuses}


def _delete_old_pods(cluster: Cluster) -> None:
    """
    Delete pods of older templates at once if all replicas of their Deployment may be unavailable.
    """
    for deployment in cluster.list("deployments.apps"):
        if not _allows_all_unavailable(deployment["spec"]):
            continue
        current_hash = template_hash(deployment)
        for pod in _pods(cluster, deployment):
            meta = pod["metadata"]
            if meta["labels"].get("pod-template-hash") != current_hash:
                cluster.delete("pods", meta["namespace"], meta["name"])


def _allows_all_unavailable(spec: Json) -> bool:
    strategy = spec.get("strategy", {})
    max_unavailable = strategy.get("rollingUpdate", {}).get("maxUnavailable", 0)
    is_recreated: bool = strategy.get("type") == "Recreate"
    return is_recreated or (
        isinstance(max_unavailable, int) and max_unavailable >= spec["replicas"] > 0
    )


def _pods(cluster: Cluster, deployment: Json) -> list[Json]:
    selector = deployment["spec"]["selector"]["matchLabels"].items()
    pods = cluster.list("pods", deployment["metadata"]["namespace"])
    return [pod for pod in pods if selector <= (pod["metadata"].get("labels") or {}).items()]
