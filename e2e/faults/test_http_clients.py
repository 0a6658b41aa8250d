"""Clients of the reporter's own HTTP addresses that hold connections or send anything at all."""

import contextlib
import resource
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.faults.support.fault_cost import measured_cost
from e2e.faults.support.variants import variants
from e2e.support.elections import STEADY_LEASE
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import LEASE, ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS


FILES = 1_024
"""The limit of open files, with its usual value."""

IDLE = 1_100
SENT = {"nothing": b"", "a request": b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n"}
RENEWALS = 3
"""Renewals of the Lease for which the connections are held while the kubelet asks."""

MALFORMED = (
    b"GET /livez HTTP/1.1\r\nno colon\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET /livez HTTP/1.1\r\nHost : a\r\n\r\n",
    b"\x00" * 100,
    b"G" * 20_000,
)


@pytest.fixture(scope="module")
def plane(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with inference_sets.lent_plane(small_plane, 2) as plane:
        yield inference_sets.healthy_models(plane)


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    """Let this process open a connection more than the reporter may have files."""
    before = soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * FILES)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("send", variants(SENT, "a request"))
def test_1100_connections_keep_neither_the_kubelet_nor_the_api_server_away(
    plane: ControlPlane, send: bytes
) -> None:
    flags = (*SHORT_FLAGS, *STEADY_LEASE)
    with ReporterProcess(plane, *flags) as reporter, contextlib.ExitStack() as stack:
        assert reporter.process is not None
        pid = reporter.process.pid
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        with measured_cost(reporter, f"{IDLE} connections") as spent:
            for port in (reporter.health_port, reporter.metrics_port):
                for _ in range(IDLE):
                    each = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                    with contextlib.suppress(ConnectionError):
                        each.sendall(send)
            for _ in range(RENEWALS):
                renewed = _renewed(plane)
                until(
                    lambda: _is_alive(reporter) and _renewed(plane) > renewed,  # noqa: B023
                    within=PROMPT_TIMEOUT,
                    what="it is renewed",
                )
            inference_sets.misconfigure(plane.client, 1)
            inference_sets.wait_for(plane.client, INVALID_REASON, 1, within=PROMPT_TIMEOUT)
            inference_sets.healthy_models(plane)
        assert len(list(Path(f"/proc/{pid}/fd").iterdir())) < FILES / 2
        assert reporter.metric("leader") == 1
        assert reporter.lines("no longer leading") == []
        closed = reporter.metric("http_connections_closed_total", cause="crowded_out")
        assert closed > IDLE
        spent.assert_within(cpu=10, peak=32, lines=8)


def test_what_clients_send_is_answered_in_http_and_never_logged(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        with measured_cost(reporter, "malformed requests") as spent:
            for each in MALFORMED * 20:
                answer = _exchange(reporter.health_port, each)
                assert answer.startswith(b"HTTP/1.0 400 ")
                assert b"aiohttp" not in answer
            malformed = 'http_connections_closed_total{cause="malformed"}'
            until(
                lambda: (
                    reporter.metric("http_connections_closed_total", cause="malformed")
                    >= 20 * len(MALFORMED)
                ),
                within=PROMPT_TIMEOUT,
                what=malformed,
            )
        assert _is_alive(reporter)
        assert "Traceback" not in "\n".join(reporter.lines())
        spent.assert_within(cpu=5, peak=16, lines=0)


# ---------------------------------------------------------------- used above


def _is_alive(reporter: ReporterProcess) -> bool:
    """Ask as the kubelet does, and wait for as long as a busy machine takes."""
    url = f"http://127.0.0.1:{reporter.health_port}/livez"
    with urllib.request.urlopen(url, timeout=PROMPT_TIMEOUT) as answer:
        return bool(answer.status == 200)


def _renewed(plane: ControlPlane) -> str:
    return str(plane.client.get(LEASE)["spec"]["renewTime"])


def _exchange(port: int, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=PROMPT_TIMEOUT) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(4096), b""))
