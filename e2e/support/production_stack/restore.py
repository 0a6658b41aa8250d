"""The example stack, repaired after each test."""

import contextlib
import datetime as dt
from collections.abc import Iterator

from e2e.controlplane import ApiError, ControlPlane, Json, until
from e2e.support import events
from e2e.support.production_stack import components
from e2e.support.production_stack.components import StackComponent
from e2e.support.timeouts import GRACE


NODES = "/api/v1/nodes"


@contextlib.contextmanager
def healthy_stack(plane: ControlPlane, *, grace: int = GRACE) -> Iterator[ControlPlane]:
    """A healthy stack without Events of the reporter, repaired at the end."""
    events.clear(plane.client)
    _wait_past_grace(plane, grace)
    try:
        yield plane
    finally:
        restore(plane)


def restore(plane: ControlPlane) -> None:
    _restore_nodes(plane)
    for namespace in sorted({each.namespace for each in components.COMPONENTS}):
        _delete_quotas(plane, namespace)
        _delete_broken_pods(plane, namespace)
    for component in components.COMPONENTS:
        _restore_component(plane, component)
    for component in components.COMPONENTS:
        components.until_ready(plane.client, component)


def _wait_past_grace(plane: ControlPlane, grace: int) -> None:
    """Wait until the Deployments are older than the grace, within which they are not announced."""

    def ages() -> Iterator[float]:
        for component in components.COMPONENTS:
            created = components.deployment(plane.client, component)["metadata"][
                "creationTimestamp"
            ]
            age = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(created)
            yield age.total_seconds()

    until(lambda: min(ages()) > grace, within=grace + 5, what="no Deployment is young")


def _restore_nodes(plane: ControlPlane) -> None:
    for node in plane.client.list(NODES):
        name = node["metadata"]["name"]
        added = name != "node-0"
        plane.client.patch(f"{NODES}/{name}", {"spec": {"unschedulable": added or None}})
        if added:
            for pod in plane.client.list("/api/v1/pods", fieldSelector=f"spec.nodeName={name}"):
                _delete(plane, _path(pod))
            plane.client.delete(f"{NODES}/{name}")


def _delete_quotas(plane: ControlPlane, namespace: str) -> None:
    for quota in plane.client.list(f"/api/v1/namespaces/{namespace}/resourcequotas"):
        name = quota["metadata"]["name"]
        plane.client.delete(f"/api/v1/namespaces/{namespace}/resourcequotas/{name}")


def _delete_broken_pods(plane: ControlPlane, namespace: str) -> None:
    """Delete pods with a fault; their replacements are healthy."""
    for pod in plane.client.list(f"/api/v1/namespaces/{namespace}/pods"):
        if any(key.startswith("fault.e2e/") for key in pod["metadata"].get("annotations", {})):
            _delete(plane, _path(pod))


def _restore_component(plane: ControlPlane, component: StackComponent) -> None:
    manifest = components.deployment_manifest(component)
    try:
        plane.client.put(components.path(component), manifest)
    except ApiError as err:
        if err.status != 404:
            raise
        plane.client.create(plane.client.collection(manifest), manifest)


def _delete(plane: ControlPlane, path: str) -> None:
    with contextlib.suppress(ApiError):
        plane.client.delete(path)


def _path(pod: Json) -> str:
    meta = pod["metadata"]
    return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
