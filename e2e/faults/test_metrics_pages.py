"""Pods whose metrics pages are hostile or never arrive, and the reading of the other pods."""

import contextlib
import os
import resource
import socket
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, Json, until
from e2e.controlplane.processes import Process
from e2e.faults.support.fault_cost import measured_cost
from e2e.faults.support.page_server import COSTLY, ELSEWHERE, HANGING, HEALTHY, HOSTILE
from e2e.support import etcd_objects, events
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS
from tests.support.ports import free_port


ROOT = Path(__file__).parent.parent.parent
REASON = "inferencesetWeightDownloadSlow"
TEAM, MODEL, OTHER = "team-0", "model-0", 1
WINDOW = 4
MANY, AT_ONCE_READ = 10_000, 512
NOBODY = "127.0.5.1"
FILES = 1_024
"""The limit of open files, with its usual value."""


class LoopbackReporter(ReporterProcess):
    """A reporter with a short window, so that a slow download is announced within seconds."""

    def __init__(self, plane: ControlPlane, port: int, *, interval: int) -> None:
        super().__init__(
            plane,
            *SHORT_FLAGS,
            f"--weight-download-window-seconds={WINDOW * interval}",
            f"--scrape-interval-seconds={interval}",
            f"--weight-download-metric-port={port}",
            "--scrape-mode=direct",
            "--scrape=loading",  # the Ready pods of the example have no page
            env={"PYTHONPATH": str(ROOT)},
        )

    def _command(self) -> list[str]:
        python, _, _, *rest = super()._command()
        return [python, "-m", "e2e.support.loopback_reporter", *rest]


@pytest.fixture(scope="module")
def bare(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with inference_sets.lent_plane(small_plane, 2) as plane:
        yield plane


@pytest.fixture
def plane(bare: ControlPlane) -> Iterator[ControlPlane]:
    yield inference_sets.healthy_models(bare)
    etcd_objects.remove_all(bare, f"/registry/pods/{TEAM}/loading-")


@pytest.fixture
def pages(plane: ControlPlane) -> Iterator[tuple[int, Process]]:
    port = free_port()
    command = [sys.executable, "-m", "e2e.faults.support.page_server", str(port)]
    process = plane.run("pages", command, {**os.environ, "PYTHONPATH": str(ROOT)})
    until(lambda: _listens(port), within=PROMPT_TIMEOUT, what="pages are served")
    yield port, process
    process.kill()


def _listens(port: int) -> bool:
    # An address that no pod has: the log names each that was asked.
    with socket.socket() as probe:
        return probe.connect_ex((NOBODY, port)) == 0


def test_hostile_pages_cost_little_and_hide_neither_pods_nor_changes(
    plane: ControlPlane, pages: tuple[int, Process]
) -> None:
    port, server = pages
    etcd_objects.write_all(plane, _loading([*HOSTILE, HEALTHY]))
    with LoopbackReporter(plane, port, interval=1) as reporter:
        with measured_cost(reporter, f"{len(HOSTILE)} hostile pages") as spent:
            events.wait_for(plane.client, REASON, within=WINDOW + 2 * PROMPT_TIMEOUT)
            until(
                lambda: (
                    set(HOSTILE) <= _asked(server)
                    and _timed_out(reporter)
                    and reporter.metric("scrapes_total", result="read") > WINDOW
                ),
                within=2 * PROMPT_TIMEOUT,
                what="all were asked, the slowest given up, and the healthy one read on",
            )
            _is_awake(plane, reporter)
        assert [each.reason for each in events.reporter_events(plane.client)] == [
            REASON,
            INVALID_REASON,
        ]
        assert ELSEWHERE not in _asked(server)
        spent.assert_within(cpu=20, peak=64, lines=8)


@pytest.mark.slow
def test_forty_pages_that_cost_too_much_delay_nothing_and_are_read_ever_less_often(
    plane: ControlPlane, pages: tuple[int, Process]
) -> None:
    port, server = pages
    etcd_objects.write_all(plane, _loading([*COSTLY, HEALTHY]))
    with LoopbackReporter(plane, port, interval=1) as reporter:
        with measured_cost(reporter, f"{len(COSTLY)} costly pages") as spent:
            events.wait_for(plane.client, REASON, within=WINDOW + 2 * PROMPT_TIMEOUT)
            until(
                lambda: set(COSTLY) <= _asked(server),
                within=2 * PROMPT_TIMEOUT,
                what="all are asked",
            )
            time.sleep(20)
            _is_awake(plane, reporter)
        lag = "event_loop_lag_seconds_bucket"
        print(f"of {reporter.metric(lag, le='+Inf'):.0f} turns of the event loop,")
        print(f"{reporter.metric(lag, le='0.25'):.0f} were shorter than 0.25 s")
        until(
            lambda: (
                reporter.metric("scrape_pages", outcome="read") == 1
                and reporter.metric("scrape_pages", outcome="failed") == len(COSTLY)
                and reporter.metric("scrapes_total", result="too_costly") >= len(COSTLY)
            ),
            within=PROMPT_TIMEOUT,
            what="the healthy page is read, and each of the others has cost too much",
        )
        # Without back-off each of them would have been read more than 20 times.
        assert reporter.metric("scrapes_total", result="too_costly") < 8 * len(COSTLY)
        assert reporter.metric("scrapes_total", result="read") > WINDOW
        spent.assert_within(cpu=20, peak=96, lines=8)


@pytest.mark.slow
def test_of_ten_thousand_pods_that_hang_none_keeps_a_healthy_one_from_being_read(
    plane: ControlPlane, pages: tuple[int, Process]
) -> None:
    """
    An announcement needs the samples of a whole window, so it proves that the pod was read
    throughout.
    """
    port, _ = pages
    with LoopbackReporter(plane, port, interval=5) as reporter:
        assert reporter.process is not None
        resource.prlimit(reporter.process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        etcd_objects.write_all(plane, _loading([HEALTHY]))
        until(lambda: reporter.metric("scrapes_total", result="read") > 0, within=30, what="read")
        with measured_cost(reporter, f"{MANY} pods that hang") as spent:
            etcd_objects.write_all(
                plane, _loading(str(HANGING[each]) for each in range(1, MANY + 1))
            )
            read = reporter.metric("scrapes_total", result="read")
            begun = time.monotonic()
            until(lambda: _timed_out(reporter) > 3 * AT_ONCE_READ, within=120, what="they hang")
            events.wait_for(plane.client, REASON, within=120)
            _is_awake(plane, reporter)
            read = reporter.metric("scrapes_total", result="read") - read
            print(f"read {read:.0f} times in {time.monotonic() - begun:.0f} s")
        assert [each.reason for each in events.reporter_events(plane.client)] == [
            REASON,
            INVALID_REASON,
        ]
        etcd_objects.remove_all(plane, f"/registry/pods/{TEAM}/loading-127-64-")
        until(lambda: _pods(reporter) < MANY, within=60, what="they are gone")
        inference_sets.misconfigure(plane.client, 0)
        inference_sets.wait_for(plane.client, INVALID_REASON, 0, within=60)
    spent.assert_within(cpu=60, peak=160, lines=8)


# ---------------------------------------------------------------- used above


def _timed_out(reporter: ReporterProcess) -> float:
    """Return how many scrapes timed out, or 0 while a busy machine does not answer."""
    with contextlib.suppress(OSError):
        return reporter.metric("scrapes_total", result="timed_out")
    return 0


def _pods(reporter: ReporterProcess) -> float:
    with contextlib.suppress(OSError):
        return reporter.metric("objects", kind="pods")
    return MANY


def _is_awake(plane: ControlPlane, reporter: ReporterProcess) -> None:
    """Assert that a change is announced as usual and that the process answers."""
    begun = time.monotonic()
    inference_sets.misconfigure(plane.client, OTHER)
    inference_sets.wait_for(plane.client, INVALID_REASON, OTHER, within=PROMPT_TIMEOUT)
    print(f"a change is announced after {time.monotonic() - begun:.2f} s")
    with urllib.request.urlopen(f"http://127.0.0.1:{reporter.health_port}/livez") as answer:
        assert answer.status == 200


def _asked(server: Process) -> set[str]:
    return {line.partition(" ")[2] for line in server.log.read_text().splitlines()}


def _loading(addresses: Iterable[str]) -> dict[str, Json]:
    """
    Pods of the model that run and are not Ready, by their keys in etcd: no API server takes so
    many so soon.
    """
    return {f"/registry/pods/{TEAM}/{_name(each)}": _pod(each) for each in addresses}


def _name(address: str) -> str:
    return f"loading-{address.replace('.', '-')}"


def _pod(address: str) -> Json:
    labels = {"inferenceset.kaito.sh/created-by": MODEL, "apps.kubernetes.io/pod-index": "0"}
    started = "2026-01-01T00:00:00Z"
    container = {"name": "model", "image": "example.invalid/never-run:1"}
    running = {**container, "imageID": "", "ready": False, "restartCount": 0}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": _name(address),
            "namespace": TEAM,
            "uid": f"00000000-0000-4000-8000-{int(address.replace('.', '')):012}",
            "creationTimestamp": started,
            "labels": labels,
        },
        "spec": {"containers": [container], "nodeName": "node-0"},
        "status": {
            "phase": "Running",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [{**running, "state": {"running": {"startedAt": started}}}],
        },
    }
