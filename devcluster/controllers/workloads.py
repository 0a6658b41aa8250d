"""
Manifests and status of ReplicaSets and pods as the real controllers and kubelet write them. Pure.
"""

import hashlib
from datetime import datetime

import msgspec

from devcluster.schema import times
from devcluster.schema.api_errors import Json


_SAFE_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
NODE = "node-1"


def _safe_hash(seed: str, length: int) -> str:
    digest = hashlib.sha256(seed.encode()).digest()
    return "".join(_SAFE_LETTERS[byte % len(_SAFE_LETTERS)] for byte in digest[:length])


def template_hash(deployment: Json) -> str:
    template = msgspec.json.encode(deployment["spec"]["template"], order="deterministic")
    return _safe_hash(template.decode(), 9)


def new_replica_set(deployment: Json) -> Json:
    """Build the ReplicaSet of the Deployment's current template, without pods yet."""
    meta, spec = deployment["metadata"], deployment["spec"]
    labels = _pod_labels(deployment)
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta['name']}-{template_hash(deployment)}",
            "namespace": meta["namespace"],
            "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [owner_reference("apps/v1", "Deployment", meta)],
        },
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": spec["template"],
        },
        "status": {"replicas": 0},
    }


def with_pods(replica_set: Json, pods: list[Json], replicas: int) -> Json:
    """Return a ReplicaSet that wants *replicas* pods and has *pods*."""
    ready = sum(is_ready(one) for one in pods)
    counts = {
        "fullyLabeledReplicas": len(pods),
        "readyReplicas": ready,
        "availableReplicas": ready,
    }
    return {
        **replica_set,
        "spec": {**replica_set["spec"], "replicas": replicas},
        "status": {
            "replicas": len(pods),
            **{name: count for name, count in counts.items() if count},
        },
    }


def _pod_labels(deployment: Json) -> Json:
    labels: Json = deployment["spec"]["template"]["metadata"]["labels"]
    return {**labels, "pod-template-hash": template_hash(deployment)}


def owner_reference(api_version: str, kind: str, meta: Json) -> Json:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_uid(manifest: Json) -> str:
    """Return the uid of the owner that controls an object; empty if none does."""
    references = manifest["metadata"].get("ownerReferences", [])
    return next((one["uid"] for one in references if one.get("controller")), "")


def new_pod(deployment: Json, owner_set: Json, seed: str, now: datetime) -> Json:
    """
    Build a pod of a Deployment that is on a node and not ready yet; *seed* determines its name.
    """
    spec = deployment["spec"]["template"]["spec"]
    manifest: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{owner_set['metadata']['name']}-{_safe_hash(seed, 5)}",
            "namespace": deployment["metadata"]["namespace"],
            "labels": _pod_labels(deployment),
            "ownerReferences": [owner_reference("apps/v1", "ReplicaSet", owner_set["metadata"])],
            "creationTimestamp": times.format_time(now),
        },
        "spec": {**spec, "nodeName": NODE},
    }
    manifest["status"] = starting_status(manifest, now)
    return manifest


def starting_status(manifest: Json, now: datetime) -> Json:
    waiting = {"waiting": {"reason": "ContainerCreating"}}
    return {
        "phase": "Pending",
        "startTime": times.format_time(now),
        "conditions": _pod_conditions(now, ready=False),
        "containerStatuses": _container_statuses(manifest, waiting, ready=False),
    }


def running_status(manifest: Json, since: datetime) -> Json:
    """Return the status of a pod that is ready since *since*."""
    running = {"running": {"startedAt": times.format_time(since)}}
    return {
        "phase": "Running",
        "startTime": manifest.get("status", {}).get("startTime") or times.format_time(since),
        "podIP": "10.0.0.10",
        "conditions": _pod_conditions(since, ready=True),
        "containerStatuses": _container_statuses(manifest, running, ready=True),
    }


def _pod_conditions(now: datetime, *, ready: bool) -> list[Json]:
    def condition(condition_type: str, *, is_true: bool) -> Json:
        return {
            "type": condition_type,
            "status": "True" if is_true else "False",
            "lastTransitionTime": times.format_time(now),
            **({} if is_true else {"reason": "ContainersNotReady"}),
        }

    return [
        condition("PodScheduled", is_true=True),
        condition("Initialized", is_true=True),
        condition("ContainersReady", is_true=ready),
        condition("Ready", is_true=ready),
    ]


def _container_statuses(manifest: Json, state: Json, *, ready: bool) -> list[Json]:
    return [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": ready,
            "started": ready,
            "restartCount": 0,
            "state": state,
        }
        for container in manifest["spec"]["containers"]
    ]


def is_ready(manifest: Json) -> bool:
    conditions = manifest.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def deployment_status(deployment: Json, pods: list[Json], now: datetime) -> Json:
    """Return the status of a Deployment with *pods*. Unchanged conditions keep their times."""
    wanted = deployment["spec"]["replicas"]
    ready = sum(is_ready(one) for one in pods)
    current_hash = template_hash(deployment)
    new = [
        one for one in pods if one["metadata"]["labels"].get("pod-template-hash") == current_hash
    ]
    is_complete = len(new) >= wanted and len(pods) == wanted and ready >= wanted
    # The default maxUnavailable of a Deployment is 25 %, rounded down.
    is_available = ready >= wanted - wanted // 4
    old = {c["type"]: c for c in deployment.get("status", {}).get("conditions") or ()}
    name = f"{deployment['metadata']['name']}-{current_hash}"
    conditions = [
        _available_condition(is_available=is_available),
        _progressing_condition(name, is_complete=is_complete),
    ]
    return {
        "observedGeneration": deployment["metadata"].get("generation", 1),
        "replicas": len(pods),
        "updatedReplicas": len(new),
        "readyReplicas": ready,
        "availableReplicas": ready,
        "unavailableReplicas": max(wanted - ready, 0),
        "conditions": [
            _with_timestamps(condition, old.get(condition["type"]), now)
            for condition in conditions
        ],
    }


def _available_condition(*, is_available: bool) -> Json:
    if is_available:
        reason, message = "MinimumReplicasAvailable", "Deployment has minimum availability."
    else:
        reason = "MinimumReplicasUnavailable"
        message = "Deployment does not have minimum availability."
    return {
        "type": "Available",
        "status": "True" if is_available else "False",
        "reason": reason,
        "message": message,
    }


def _progressing_condition(name: str, *, is_complete: bool) -> Json:
    outcome = "has successfully progressed." if is_complete else "is progressing."
    return {
        "type": "Progressing",
        "status": "True",
        "reason": "NewReplicaSetAvailable" if is_complete else "ReplicaSetUpdated",
        "message": f'ReplicaSet "{name}" {outcome}',
    }


def _with_timestamps(condition: Json, old: Json | None, now: datetime) -> Json:
    stamp = times.format_time(now)
    is_same = old is not None and old["status"] == condition["status"]
    updated = stamp
    if old is not None and is_same and old["reason"] == condition["reason"]:
        updated = old["lastUpdateTime"]
    return {
        **condition,
        "lastUpdateTime": updated,
        "lastTransitionTime": old["lastTransitionTime"] if old is not None and is_same else stamp,
    }
