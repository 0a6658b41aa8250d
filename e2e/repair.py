"""
The example stack, healthy again whatever a test did to it.
"""

import contextlib
import datetime as dt
from collections.abc import Iterator

from e2e import events, stack
from e2e.controlplane import ApiError, ControlPlane, Json, until
from e2e.patience import GRACE
from e2e.stack import Component


NODES = "/api/v1/nodes"


@contextlib.contextmanager
def mended(plane: ControlPlane, *, grace: int = GRACE) -> Iterator[ControlPlane]:
    """
    A healthy stack of which the reporter has not said anything yet, and mended at the end.
    """
    events.clear(plane.client)
    _grown(plane, grace)
    try:
        yield plane
    finally:
        mend(plane)


def mend(plane: ControlPlane) -> None:
    _nodes(plane)
    for namespace in sorted({each.namespace for each in stack.COMPONENTS}):
        _unrestricted(plane, namespace)
        _healthy_pods(plane, namespace)
    for component in stack.COMPONENTS:
        _as_installed(plane, component)
    for component in stack.COMPONENTS:
        stack.until_ready(plane.client, component)


def _grown(plane: ControlPlane, grace: int) -> None:
    """
    Older than the grace: what is young may be out for a while without a word.
    """

    def ages() -> Iterator[float]:
        for component in stack.COMPONENTS:
            created = stack.deployment(plane.client, component)["metadata"]["creationTimestamp"]
            age = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(created)
            yield age.total_seconds()

    until(lambda: min(ages()) > grace, within=grace + 5, what="no Deployment is young")


def _nodes(plane: ControlPlane) -> None:
    for node in plane.client.list(NODES):
        name = node["metadata"]["name"]
        added = name != "node-0"
        plane.client.patch(f"{NODES}/{name}", {"spec": {"unschedulable": added or None}})
        if added:
            for pod in plane.client.list("/api/v1/pods", fieldSelector=f"spec.nodeName={name}"):
                _delete(plane, _path(pod))
            plane.client.delete(f"{NODES}/{name}")


def _unrestricted(plane: ControlPlane, namespace: str) -> None:
    for quota in plane.client.list(f"/api/v1/namespaces/{namespace}/resourcequotas"):
        name = quota["metadata"]["name"]
        plane.client.delete(f"/api/v1/namespaces/{namespace}/resourcequotas/{name}")


def _healthy_pods(plane: ControlPlane, namespace: str) -> None:
    """
    One that was made to fail goes; its replacement is healthy.
    """
    for pod in plane.client.list(f"/api/v1/namespaces/{namespace}/pods"):
        if any(key.startswith("fault.e2e/") for key in pod["metadata"].get("annotations", {})):
            _delete(plane, _path(pod))


def _as_installed(plane: ControlPlane, component: Component) -> None:
    manifest = stack.deployment_manifest(component)
    try:
        plane.client.put(stack.path(component), manifest)
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
