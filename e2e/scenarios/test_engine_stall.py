"""An engine that hangs while its health check answers, seen in the metrics of a real server."""

import json
import time
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support import events
from e2e.support.address import routable_address
from e2e.support.model_server import MAX_RUNNING, ModelServer
from e2e.support.production_stack import workload
from e2e.support.reporter_process import ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import PROMPT_TIMEOUT


REASON, READY_REASON = "inferencesetEngineStalled", "inferencesetReady"
TEAM, MODEL, POD = "team-0", "model-0", "model-0-7rk2p-0"
WINDOW, INTERVAL = 4, 1
"""Seconds, in place of 120 and 15."""


@pytest.fixture(scope="module")
def bare(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with small_plane.lent() as plane:
        workload.write(plane, 1)
        yield plane


@pytest.fixture
def plane(bare: ControlPlane) -> ControlPlane:
    events.clear(bare.client)
    return bare


@pytest.fixture
def server(plane: ControlPlane) -> Iterator[ModelServer]:
    address = routable_address()
    server = ModelServer(plane, address)
    server.start()
    status = {"podIP": address, "podIPs": [{"ip": address}]}
    plane.client.patch(f"/api/v1/namespaces/{TEAM}/pods/{POD}/status", {"status": status})
    with server.requests():
        yield server
    server.stop()


def _flags(plane: ControlPlane, server: ModelServer) -> list[str]:
    window = {"window-seconds": WINDOW}
    overlay = plane.folder / "short-window.yaml"
    overlay.write_text(json.dumps({"reasons": {REASON: {"parameters": window}}}))
    return [
        f"--catalogue-overlay={overlay}",
        f"--scrape-interval-seconds={INTERVAL}",
        f"--weight-download-metric-port={server.port}",
        "--scrape-mode=direct",
        "--startup-grace-seconds=0",
        "--settle-seconds=1",
    ]


def test_a_stall_in_the_middle_of_traffic_is_announced_and_its_end_too(
    plane: ControlPlane, server: ModelServer
) -> None:
    with ReporterProcess(plane, *_flags(plane, server)) as reporter:
        _until_read_for_a_window(reporter)
        assert REASON not in {each.reason for each in events.reporter_events(plane.client)}
        server.hang()
        within = WINDOW + INTERVAL + PROMPT_TIMEOUT
        event = events.wait_for(plane.client, REASON, within=within)
        assert server.is_healthy()
        assert (event.type, event.involved) == ("Warning", ("Namespace", TEAM))
        assert event.message.startswith(f"InferenceSet {TEAM}/{MODEL}: ")
        assert POD in event.message
        assert f"{MAX_RUNNING} requests running" in event.message
        server.restart()
        events.wait_for(plane.client, READY_REASON, within=within, containing=f"{TEAM}/{MODEL}")


def _until_read_for_a_window(reporter: ReporterProcess) -> None:
    """Wait until the page was read throughout a window, and once more so that it is evaluated."""
    until(
        lambda: reporter.metric("scrapes_total", result="read") > WINDOW / INTERVAL + 1,
        within=60,
        what="the page was read for a window",
    )


@pytest.mark.parametrize("scope", ["off", "loading"])
def test_a_ready_pod_is_not_read_if_nobody_wants_it(
    plane: ControlPlane, server: ModelServer, scope: str
) -> None:
    server.hang()
    with ReporterProcess(plane, *_flags(plane, server), f"--scrape={scope}") as reporter:
        time.sleep(WINDOW + 2 * INTERVAL)
        assert reporter.metric("scrapes_total") == 0
        (model,) = [s for s in reporter.status()["subjects"] if s.get("name") == MODEL]
        assert REASON in model["notChecked"]
        assert REASON not in {each["reason"] for each in model.get("verdicts", ())}
