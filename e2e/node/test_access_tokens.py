"""The token of a pod, which kubelet replaces before it ends."""

import contextlib
import time
from collections.abc import Iterator

from e2e.controlplane import Json
from e2e.controlplane.client import STRATEGIC
from e2e.node import stack
from e2e.node.release import DEPLOYMENT, NAMESPACE, Release


LIFETIME = 600
"""Seconds; the API server issues none that ends earlier."""

PATH = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{DEPLOYMENT}"
VOLUME = "short-lived-token"
FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
SOURCES = [
    {"serviceAccountToken": {"path": "token", "expirationSeconds": LIFETIME}},
    {"configMap": {"name": "kube-root-ca.crt"}},
    {
        "downwardAPI": {
            "items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]
        }
    },
]


def test_reporter_works_on_after_its_first_token_has_ended(quiet: Release) -> None:
    with _short_lived_token(quiet):
        pods = [pod["metadata"]["name"] for pod in quiet.reporters.pods()]
        tokens = {pod: _token(quiet, pod) for pod in pods}
        time.sleep(LIFETIME + 30)
        assert [pod for pod in pods if _token(quiet, pod) == tokens[pod]] == []
        events = quiet.events_from_now()
        component = stack.component("body-based-router")
        stack.NO_IMAGE.cause(quiet.cluster.client, component)
        try:
            events.wait_for("clusterBBRNotReady", stack.ABSENT_IMAGE)
        finally:
            stack.repair(quiet.cluster.client, component)
        events.wait_for("clusterReady")
        assert [pod["metadata"]["name"] for pod in quiet.reporters.pods()] == pods
        for pod in pods:
            assert "nauthorized" not in quiet.kubectl("logs", pod)


@contextlib.contextmanager
def _short_lived_token(release: Release) -> Iterator[None]:
    client = release.cluster.client
    mount = {"name": VOLUME, "mountPath": FOLDER, "readOnly": True}
    volume = {"name": VOLUME, "projected": {"sources": SOURCES}}
    try:
        _change(release, [mount], {"automountServiceAccountToken": False, "volumes": [volume]})
        yield
    finally:
        gone = {"$patch": "delete"}
        pod = {"automountServiceAccountToken": None, "volumes": [{"name": VOLUME, **gone}]}
        _change(release, [{"mountPath": FOLDER, **gone}], pod)
        assert VOLUME not in str(client.get(PATH)["spec"])


def _change(release: Release, mounts: list[Json], pod: Json) -> None:
    containers = [{"name": "reporter", "volumeMounts": mounts}]
    template = {"spec": {**pod, "containers": containers}}
    release.cluster.client.patch(PATH, {"spec": {"template": template}}, STRATEGIC)
    release.until_rolled_out()


def _token(release: Release, pod: str) -> str:
    return release.python(pod, f'print(open("{FOLDER}/token").read(), end="")')
