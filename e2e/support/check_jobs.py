"""
Check Jobs on a control plane, and their conditions as the container beside a check writes them.
"""

from datetime import UTC, datetime

from e2e.controlplane import ControlPlane, Json, until
from e2e.controlplane.client import STRATEGIC
from e2e.support.production_stack.components import IMAGE
from reporter.kinds.batch import CHECK_LABEL


WITHIN = 60
"""The time limit of what the Job controller does, in seconds."""


def create(
    plane: ControlPlane,
    namespace: str,
    name: str,
    *,
    check: str | None,
    of: str = "",
    ends: bool = False,
    max_age: str = "",
    **spec: object,
) -> None:
    """Create a Job. One that *ends* completes at once; no node takes the pods of another one."""
    labels = {CHECK_LABEL: check} if check is not None else {}
    annotations = {"reporter.productionstack.kaito.sh/max-age": max_age} if max_age else {}
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": "check", "image": IMAGE}],
        **({} if ends else {"nodeSelector": {"e2e.example/none": "true"}}),
    }
    manifest: Json = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {**labels, **({"kaito.sh/inferenceset": of} if of else {})},
            "annotations": annotations,
        },
        "spec": {"backoffLimit": 0, "template": {"spec": pod}, **spec},
    }
    plane.client.create(plane.client.collection(manifest), manifest)


def report(
    plane: ControlPlane, namespace: str, name: str, status: str, reason: str, message: str = ""
) -> None:
    """
    Write the condition with the result. The controller's conditions stay, as they are merged by type.
    """
    condition = {
        "type": "Available",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    body = {"status": {"conditions": [condition]}}
    plane.client.patch(f"{path(namespace, name)}/status", body, STRATEGIC)


def path(namespace: str, name: str) -> str:
    return f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}"


def delete(plane: ControlPlane, namespace: str, name: str) -> None:
    plane.client.delete(f"{path(namespace, name)}?propagationPolicy=Background")


def delete_all(plane: ControlPlane) -> None:
    """
    Delete the Jobs of all namespaces, as collections: of a namespace that ends, a single one may be
    gone by now.
    """
    found = plane.client.list("/apis/batch/v1/jobs")
    for namespace in {each["metadata"]["namespace"] for each in found}:
        folder = path(namespace, "").rstrip("/")
        plane.client.delete(f"{folder}?propagationPolicy=Background")


def conditions(plane: ControlPlane, namespace: str, name: str) -> dict[str, tuple[str, str]]:
    status = plane.client.get(path(namespace, name)).get("status", {})
    return {c["type"]: (c["status"], c.get("reason", "")) for c in status.get("conditions", [])}


def until_condition(plane: ControlPlane, namespace: str, name: str, kind: str) -> None:
    until(
        lambda: conditions(plane, namespace, name).get(kind, ("",))[0] == "True",
        within=WITHIN,
        what=f"Job {namespace}/{name} is {kind}",
    )


def until_running(plane: ControlPlane, namespace: str, name: str) -> None:
    until(
        lambda: plane.client.get(path(namespace, name)).get("status", {}).get("active") == 1,
        within=WITHIN,
        what=f"Job {namespace}/{name} has a pod",
    )


def seconds_old(plane: ControlPlane, namespace: str, name: str) -> float:
    created = plane.client.get(path(namespace, name))["metadata"]["creationTimestamp"]
    return (datetime.now(UTC) - datetime.fromisoformat(created)).total_seconds()
