"""
Deployments, ReplicaSets and pods as the real controllers and the kubelet write them. Pure.
"""

import hashlib
from datetime import datetime

import msgspec

from reporter.embedded.schema import times
from reporter.embedded.schema.api_errors import Json


_SAFE_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
NODE = "node-1"


def _safe_hash(seed: str, length: int) -> str:
    digest = hashlib.sha256(seed.encode()).digest()
    return "".join(_SAFE_LETTERS[byte % len(_SAFE_LETTERS)] for byte in digest[:length])


def template_hash(deployment: Json) -> str:
    template = msgspec.json.encode(deployment["spec"]["template"], order="deterministic")
    return _safe_hash(template.decode(), 9)


def new_replica_set(deployment: Json) -> Json:
    """
    The ReplicaSet of the Deployment's present template, without pods yet.
    """
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


def with_pods(owned: Json, pods: list[Json], replicas: int) -> Json:
    """
    A ReplicaSet that shall have so many pods and has these.
    """
    ready = sum(is_ready(one) for one in pods)
    counts = {
        "fullyLabeledReplicas": len(pods),
        "readyReplicas": ready,
        "availableReplicas": ready,
    }
    return {
        **owned,
        "spec": {**owned["spec"], "replicas": replicas},
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
    """
    Uid of the owner that controls an object; empty if none does.
    """
    references = manifest["metadata"].get("ownerReferences", [])
    return next((one["uid"] for one in references if one.get("controller")), "")


def new_pod(deployment: Json, owner_set: Json, seed: str, now: datetime) -> Json:
    """
    A new pod of a Deployment, on a node and not ready yet; *seed* makes its name.
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


def running_status(manifest: Json, now: datetime, since: datetime | None = None) -> Json:
    """
    Ready since *since*, or from now on.
    """
    start = since or now
    running = {"running": {"startedAt": times.format_time(start)}}
    return {
        "phase": "Running",
        "startTime": manifest.get("status", {}).get("startTime") or times.format_time(start),
        "podIP": "10.0.0.10",
        "conditions": _pod_conditions(start, ready=True),
        "containerStatuses": _container_statuses(manifest, running, ready=True),
    }


def _pod_conditions(now: datetime, *, ready: bool) -> list[Json]:
    def condition(kind: str, *, holds: bool) -> Json:
        return {
            "type": kind,
            "status": "True" if holds else "False",
            "lastTransitionTime": times.format_time(now),
            **({} if holds else {"reason": "ContainersNotReady"}),
        }

    return [
        condition("PodScheduled", holds=True),
        condition("Initialized", holds=True),
        condition("ContainersReady", holds=ready),
        condition("Ready", holds=ready),
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
    """
    The status of a Deployment with those pods; transition times stay where nothing changed.
    """
    wanted = deployment["spec"]["replicas"]
    ready = sum(is_ready(one) for one in pods)
    mark = template_hash(deployment)
    new = [one for one in pods if one["metadata"]["labels"].get("pod-template-hash") == mark]
    done = len(new) >= wanted and len(pods) == wanted and ready >= wanted
    enough = ready >= wanted - wanted // 4
    old = {c["type"]: c for c in deployment.get("status", {}).get("conditions") or ()}
    name = f"{deployment['metadata']['name']}-{mark}"
    conditions = [
        _available_condition(enough=enough),
        _progressing_condition(name, done=done),
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


def _available_condition(*, enough: bool) -> Json:
    if enough:
        reason, message = "MinimumReplicasAvailable", "Deployment has minimum availability."
    else:
        reason = "MinimumReplicasUnavailable"
        message = "Deployment does not have minimum availability."
    return {
        "type": "Available",
        "status": "True" if enough else "False",
        "reason": reason,
        "message": message,
    }


def _progressing_condition(name: str, *, done: bool) -> Json:
    how = "has successfully progressed." if done else "is progressing."
    return {
        "type": "Progressing",
        "status": "True",
        "reason": "NewReplicaSetAvailable" if done else "ReplicaSetUpdated",
        "message": f'ReplicaSet "{name}" {how}',
    }


def _with_timestamps(condition: Json, old: Json | None, now: datetime) -> Json:
    stamp = times.format_time(now)
    same = old is not None and old["status"] == condition["status"]
    update = stamp
    if old is not None and same and old["reason"] == condition["reason"]:
        update = old["lastUpdateTime"]
    return {
        **condition,
        "lastUpdateTime": update,
        "lastTransitionTime": old["lastTransitionTime"] if old is not None and same else stamp,
    }
