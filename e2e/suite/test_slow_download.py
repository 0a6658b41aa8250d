"""A slow download of a model's weights, by the metrics page of its pod."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import Json, faults
from e2e.suite import model as models
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import events_from_now
from e2e.suite.model import MODEL, SuiteModel
from e2e.support.address import routable_address
from e2e.support.production_stack.components import IMAGE
from tests.support.stubs import metrics_pages


REASON = "inferencesetWeightDownloadSlow"
POD = f"{MODEL}-xyz-0"
ROOT = Path(__file__).parents[2]
SPEED, REMAINING = 3.1e6, 16000.0
SERVER = """
import http.server, signal
signal.signal(signal.SIGTERM, lambda *_: exit())
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write({page!r})
http.server.ThreadingHTTPServer(("", {port}), Page).serve_forever()
"""
"""The exporter for clusters with containers; it needs only Python."""


@pytest.fixture(scope="module")
def model(own_cluster: ClusterUnderTest) -> Iterator[SuiteModel]:
    with models.installed(own_cluster, "weights") as model:
        yield model


@pytest.mark.announces(REASON)
def test_slow_download_is_announced_once_and_ends_with_its_pod(model: SuiteModel) -> None:
    cluster = model.cluster
    events = events_from_now(cluster, model.namespace)
    with loading(model):
        warning = events.wait_for(REASON, "model-weights download is slow")
        assert (warning.type, warning.involved) == ("Warning", ("Namespace", model.namespace))
        assert warning.message.startswith(f"InferenceSet {model.namespace}/{MODEL}: ")
        assert f"LLM pod {POD}" in warning.message
        events.wait_for(REASON, count=warning.count + 1)
    (last,) = events.wait_quiet()
    assert last.uid == warning.uid


@contextlib.contextmanager
def loading(model: SuiteModel) -> Iterator[None]:
    """Run a pod of the model that downloads very slowly."""
    cluster, client = model.cluster, model.cluster.client
    port = int(cluster.reporters.flags().get("weight-download-metric-port", "5000"))
    pod = _pod(model, port)
    with contextlib.ExitStack() as stack:
        if cluster.has_no_kubelets:
            stack.enter_context(_local_exporter(port))
        client.create(client.collection(pod), pod)
        stack.callback(client.delete, f"{client.path(pod)}?gracePeriodSeconds=0")
        if cluster.has_no_kubelets:
            faults.write_status(client, pod, _running_status())
        yield


def _pod(model: SuiteModel, port: int) -> Json:
    cluster = model.cluster
    labels = {"inferenceset.kaito.sh/created-by": MODEL, "apps.kubernetes.io/pod-index": "0"}
    meta = {"name": POD, "namespace": model.namespace, "labels": labels}
    container: Json = {"name": "model", "image": IMAGE}
    spec: Json = {"containers": [container]}
    if cluster.has_no_kubelets:
        meta["annotations"] = {"fault.e2e/hold": "true"}
        spec["nodeName"] = "node-0"
    else:
        page = metrics_pages.pre_download(SPEED, REMAINING)
        container["image"] = cluster.reporters.image
        container["command"] = ["python3", "-c", SERVER.format(page=page, port=port)]
        container["readinessProbe"] = {"exec": {"command": ["python3", "-c", "exit(1)"]}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


@contextlib.contextmanager
def _local_exporter(port: int) -> Iterator[None]:
    routable_address()
    command = [sys.executable, "-m", "tests.support.stubs.exporter", "slow", f"--port={port}"]
    exporter = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        yield
    finally:
        exporter.terminate()
        exporter.wait()


def _running_status() -> Json:
    host = routable_address()
    container = {
        "name": "model",
        "image": "",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
    }
    return {
        "podIP": host,
        "podIPs": [{"ip": host}],
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [container],
    }
