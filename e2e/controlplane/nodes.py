"""Nodes that exist only as objects; kwok keeps them Ready."""

from e2e.controlplane.client import Client
from e2e.controlplane.manifests import Json
from e2e.controlplane.waiting import until


_CAPACITY = {"cpu": "1000", "memory": "4Ti", "pods": "10000", "nvidia.com/gpu": "1000"}


def manifest(name: str, labels: dict[str, str] | None = None) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
            | (labels or {}),
        },
        "status": {"capacity": _CAPACITY, "allocatable": _CAPACITY},
    }


def create(client: Client, name: str, labels: dict[str, str] | None = None) -> None:
    """Create a Node. Returns when it is Ready."""
    client.create("/api/v1/nodes", manifest(name, labels))
    until(lambda: ready(client, name), within=60, what=f"Node {name} is Ready")


def ready(client: Client, name: str) -> bool:
    conditions = client.get(f"/api/v1/nodes/{name}")["status"].get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
