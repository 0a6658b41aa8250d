"""Names of Services, as pods resolve them."""

import subprocess

import pytest

from e2e.controlplane import until
from e2e.node import stack
from e2e.node.release import DEPLOYMENT, Release


NAME = "by-name"
ASK = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).status)"
RESOLVE = "import socket, sys; print(socket.gethostbyname(sys.argv[1]))"


def _in_pod(release: Release, program: str, word: str) -> str:
    """Run a Python program in a pod of the reporter, and return its output."""
    command = ("exec", f"deployment/{DEPLOYMENT}", "--", "python3", "-c", program, word)
    return release.kubectl(*command).strip()


def test_a_pod_resolves_a_service_by_its_short_and_its_full_name(quiet: Release) -> None:
    for name in ("kubernetes.default", "kubernetes.default.svc.cluster.local"):
        assert _in_pod(quiet, RESOLVE, name) == "10.96.0.1"
    with pytest.raises(subprocess.CalledProcessError) as unknown:
        _in_pod(quiet, RESOLVE, "nosuch.default.svc.cluster.local.")
    assert "Name or service not known" in unknown.value.stderr


def test_a_pod_asks_another_one_by_the_name_of_its_service(quiet: Release) -> None:
    client, component = quiet.cluster.client, stack.component("body-based-router")
    services = f"/api/v1/namespaces/{component.namespace}/services"
    spec = {"selector": component.labels, "ports": [{"port": 80, "targetPort": 8000}]}
    client.create(services, {"metadata": {"name": NAME}, "spec": spec})
    url = f"http://{NAME}.{component.namespace}/health"
    try:
        until(lambda: _answers(quiet, url), within=60, what=f"{url} answers")
    finally:
        client.delete(f"{services}/{NAME}")


def _answers(release: Release, url: str) -> bool:
    try:
        return _in_pod(release, ASK, url) == "200"
    except subprocess.CalledProcessError:  # kube-proxy does not know it yet
        return False
