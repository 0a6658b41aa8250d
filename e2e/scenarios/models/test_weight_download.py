"""A slow download, read from a pod by the running process."""

import contextlib
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, Json, until
from e2e.support import events
from e2e.support.address import routable_address
from e2e.support.production_stack import workload
from e2e.support.reporter_process import ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import PROMPT_TIMEOUT
from tests.support.ports import free_port


ROOT = Path(__file__).parents[3]
REASON = "inferencesetWeightDownloadSlow"
TEAM, MODEL, POD = "team-0", "model-0", "model-0-xyz-0"
WINDOW = 4
SHORT_SCRAPES = (f"--weight-download-window-seconds={WINDOW}", "--scrape-interval-seconds=1")


@pytest.fixture(scope="module")
def address() -> str:
    return routable_address()


@pytest.fixture(scope="module")
def plane(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with small_plane.lent() as plane:
        workload.write(plane, 1)
        yield plane


@contextlib.contextmanager
def a_loading_pod(plane: ControlPlane, address: str) -> Iterator[None]:
    labels = {"inferenceset.kaito.sh/created-by": MODEL, "apps.kubernetes.io/pod-index": "0"}
    container = {"name": "model", "image": "example.invalid/never-run:1"}
    pod: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": POD, "namespace": TEAM, "labels": labels},
        "spec": {"containers": [container], "nodeName": "node-0"},
    }
    plane.client.create(plane.client.collection(pod), pod)
    running = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    status = {
        "name": "model",
        "image": "",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": running,
    }
    addresses = {"podIP": address, "podIPs": [{"ip": address}]}
    ready = {"type": "Ready", "status": "False"}
    body = {
        "status": {
            **addresses,
            "phase": "Running",
            "conditions": [ready],
            "containerStatuses": [status],
        }
    }
    plane.client.patch(f"{plane.client.path(pod)}/status", body)
    yield
    plane.client.delete(f"{plane.client.path(pod)}?gracePeriodSeconds=0")


@pytest.mark.parametrize("mode", ["auto", "direct"])
def test_a_slow_download_is_announced_once_with_all_that_is_known_of_it(
    plane: ControlPlane, address: str, mode: str
) -> None:
    """The reporter runs outside of the cluster, where auto means through the API server."""
    port = free_port()
    stub = (sys.executable, "-m", "tests.support.stubs.exporter", "slow", f"--port={port}")
    exporter = plane.run("stub-exporter", list(stub), {**os.environ, "PYTHONPATH": str(ROOT)})
    until(lambda: _listens(address, port), within=60, what="the stub listens")
    events.clear(plane.client)
    flags = (*SHORT_SCRAPES, f"--weight-download-metric-port={port}", f"--scrape-mode={mode}")
    with a_loading_pod(plane, address), ReporterProcess(plane, *flags) as reporter:
        event = events.wait_for(plane.client, REASON, within=WINDOW + 5 + 2 * PROMPT_TIMEOUT)
        assert (event.type, event.involved) == ("Warning", ("Namespace", TEAM))
        assert event.message.startswith(
            f"InferenceSet {TEAM}/{MODEL}: model-weights download is slow: every sample in the"
            f" {WINDOW}s window was below 20 MB/s (worst 3."
        )
        assert f"LLM pod {POD}, source pod {POD}." in event.message
        assert "the 30m of the startup probe are over" in event.message
        until(
            lambda: reporter.metric("scrapes_total", result="read") >= WINDOW,
            within=60,
            what="the page was read for a window",
        )
        proxied = f"/api/v1/namespaces/{TEAM}/pods/{POD}:{port}/proxy/metrics"
        if mode == "auto":
            until(lambda: _was_asked(plane, proxied), within=60, what="it is in the audit log")
        else:
            assert not _was_asked(plane, proxied)
    exporter.kill()


def _was_asked(plane: ControlPlane, path: str) -> bool:
    return path in {each["requestURI"] for each in plane.audit()}


def _listens(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=1).close()
    except OSError:
        return False
    return True
