"""
The objects of an API server: what somebody has written, and its way back to an earlier state.
"""

import contextlib
import http.client
from collections.abc import Iterator, Mapping

from e2e.controlplane import crds
from e2e.controlplane.client import ApiError, Client
from e2e.controlplane.manifests import Json


NAMESPACES = "/api/v1/namespaces"
DERIVED = frozenset(
    {
        "/api/v1/endpoints",
        "/apis/apiregistration.k8s.io/v1/apiservices",
        "/apis/networking.k8s.io/v1/ipaddresses",
    }
)
"""Collections that the API server itself fills, from CRDs and Services."""

OTHER_NAMES = frozenset({"events.k8s.io"})
"""Groups whose objects are those of another group."""

OWN_LEASE = "/namespaces/kube-system/leases/apiserver-"
"""The path of the Lease that an API server has for itself, and a restarted one has another."""

Contents = Mapping[str, Json]
"""The content of each object as it was written, by its path."""


def read(client: Client) -> Contents:
    return {
        path: _written(each) for path, each in sorted(_objects(client)) if OWN_LEASE not in path
    }


def remove_added(client: Client, before: Contents) -> None:
    """Delete all objects that were not there, also those that a finalizer keeps."""
    added = {path: each for path, each in read(client).items() if path not in before}
    definitions = [path for path in added if path.startswith(crds.PATH)]
    for path, each in added.items():
        if each["metadata"].get("finalizers") and path not in definitions:
            with _already_gone():
                client.patch(path, {"metadata": {"finalizers": None}})
    for path in definitions:
        crds.remove(client, path.rpartition("/")[2])
    for path in sorted(
        added.keys() - {*definitions}, key=lambda path: (_is_namespace(path), path)
    ):
        with _already_gone():
            client.delete(f"{path}?gracePeriodSeconds=0&propagationPolicy=Background")
            if _is_namespace(path):
                # No controller ends a namespace on a small control plane.
                live = client.get(path)
                client.put(f"{path}/finalize", {**live, "spec": {"finalizers": []}})


def differences(before: Contents, after: Contents) -> list[str]:
    return [
        *(f"{path} was left" for path in after if path not in before),
        *(f"{path} is gone" for path in before if path not in after),
        *(
            f"{path} has changed"
            for path in before
            if before[path] != after.get(path, before[path])
        ),
    ]


def _objects(client: Client) -> Iterator[tuple[str, Json]]:
    """Yield the objects of each resource in one version: not every version of a group has all."""
    for versions in _groups(client):
        seen = set[str]()
        for root in versions:
            with _already_gone():  # a group whose CRD was just deleted
                for resource in client.get(root)["resources"]:
                    name = resource["name"]
                    if {"list", "delete"} <= {*resource["verbs"]} and name not in seen:
                        seen.add(name)
                        yield from _collection(client, root, name)


def _groups(client: Client) -> Iterator[list[str]]:
    """Yield the paths of the versions of each group, the preferred one first."""
    yield ["/api/v1"]
    for each in client.get("/apis")["groups"]:
        if each["name"] not in OTHER_NAMES:
            yield [f"/apis/{version['groupVersion']}" for version in each["versions"]]


def _collection(client: Client, root: str, resource: str) -> Iterator[tuple[str, Json]]:
    if f"{root}/{resource}" in DERIVED:
        return
    with _already_gone():
        for each in client.list(f"{root}/{resource}"):
            namespace = each["metadata"].get("namespace")
            where = f"/namespaces/{namespace}" if namespace else ""
            yield f"{root}{where}/{resource}/{each['metadata']['name']}", each


def _written(found: Json) -> Json:
    kept = ("labels", "annotations", "finalizers", "deletionTimestamp")
    meta = {key: found["metadata"][key] for key in kept if key in found["metadata"]}
    return {**{key: found[key] for key in found if key != "status"}, "metadata": meta}


def _is_namespace(path: str) -> bool:
    return path.rpartition("/")[0] == NAMESPACES


@contextlib.contextmanager
def _already_gone() -> Iterator[None]:
    try:
        yield
    except ApiError as err:
        if err.status != http.client.NOT_FOUND:
            raise
