"""
Models that start from nothing, in the steps of the real ones: node, image, download, compilation.

One becomes ready without any Event. Each of the others fails in a step of its own, all at the same
time, and is announced once. Starting objects have the default hold; the model that never becomes
ready is announced by a process with a hold of seconds.
"""

import contextlib
import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, Json, faults, until
from e2e.support import events, observer
from e2e.support.address import routable_address
from e2e.support.events import Event
from e2e.support.observer import ANNOUNCE_WAIT, Observer
from e2e.support.production_stack import restore, statuses
from e2e.support.production_stack.kaito_controller import (
    NODES_READY_REASONS,
    PENDING_REASONS,
    nodes_missing_reasons,
)
from e2e.support.production_stack.team import TeamStack, register_class, remove
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import GRACE
from tests.support.ports import free_port


ROOT = Path(__file__).parents[3]
WORKSPACE = "qwen-7rk2p"
PODS, INFRA = "inferencesetModelPodsNotReady", "inferencesetInfraProvisioningFailed"
QUOTA = "creating instance, subscription level on-demand vCPU quota has been reached"
HASTE, WINDOW = 30, 4
"""Seconds of a download that pass in one second; seconds of slow pages that are announced."""

SHORT_SCRAPES = (f"--weight-download-window-seconds={WINDOW}", "--scrape-interval-seconds=1")
NEVER, COLD = "never-ready", "cold"


# ---------------------------------------------------------------- the starts


def _asks_for_a_node(team: TeamStack) -> None:
    team.kaito.create_workspace(WORKSPACE)
    team.kaito.set_inference_set_status(0)
    time.sleep(ANNOUNCE_WAIT)
    team.kaito.set_workspace_conditions(WORKSPACE, nodes_missing_reasons("AwaitingReconciliation"))


def _quota(team: TeamStack) -> None:
    _asks_for_a_node(team)
    team.kaito.set_workspace_conditions(
        WORKSPACE, nodes_missing_reasons(f"SubscriptionQuotaReached: {QUOTA}")
    )


def _fails_with(fault: faults.PodFault) -> Callable[[TeamStack], None]:
    def start(team: TeamStack) -> None:
        _asks_for_a_node(team)
        team.kaito.set_workspace_conditions(WORKSPACE, NODES_READY_REASONS | PENDING_REASONS)
        team.kaito.create_stateful_set(WORKSPACE, fault.annotations())
        team.kaito.pod(WORKSPACE)

    return start


FAILURES: dict[str, tuple[Callable[[TeamStack], None], str, str]] = {
    "quota": (_quota, INFRA, "SubscriptionQuotaReached"),
    "image": (_fails_with(faults.IMAGE_PULL), PODS, "ImagePullBackOff"),
    "crash": (_fails_with(faults.CRASH_LOOP), PODS, "CrashLoopBackOff (exit code 1"),
    "memory": (_fails_with(faults.OUT_OF_MEMORY), PODS, "after OOMKilled (exit code 137"),
}
NAMES = (COLD, NEVER, *FAILURES)


def _cold_start(team: TeamStack, watcher: Observer, page: "Page") -> None:
    """Run a start of a quarter of an hour in half a minute."""
    _asks_for_a_node(team)
    for reason in ("NodeNotFound", "StartupTaintsExist"):
        watcher.wait_held(team.name, INFRA)
        team.kaito.set_workspace_conditions(WORKSPACE, nodes_missing_reasons(reason))
        time.sleep(ANNOUNCE_WAIT)
    team.kaito.set_workspace_conditions(WORKSPACE, NODES_READY_REASONS | PENDING_REASONS)
    team.kaito.create_stateful_set(WORKSPACE, {"fault.e2e/hold": "true"})
    pulling = {"phase": "Pending", **_container({"waiting": {"reason": "ContainerCreating"}})}
    faults.write_status(team.client, team.kaito.pod(WORKSPACE), pulling)
    watcher.wait_held(team.name, PODS)
    time.sleep(ANNOUNCE_WAIT)
    page.serve()
    loading = _container({"running": {"startedAt": statuses.timestamp()}})
    where = {"podIP": page.address, "podIPs": [{"ip": page.address}]}
    status = {"phase": "Running", **where, **loading}
    faults.write_status(team.client, team.kaito.pod(WORKSPACE), status)
    read = watcher.reporter.metric("scrapes_total", result="read")
    until(page.is_of_vllm, within=60, what="vLLM has its port")
    until(
        lambda: watcher.reporter.metric("scrapes_total", result="read") >= read + WINDOW,
        within=60,
        what="the page was read for a window",
    )
    team.kaito.wait_started(WORKSPACE)


def _container(state: Json) -> Json:
    """Return the status of a pod that is not Ready."""
    container = {"name": WORKSPACE, "image": "", "imageID": "", "ready": False, "restartCount": 0}
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": statuses.timestamp()}
    return {"conditions": [ready], "containerStatuses": [{**container, "state": state}]}


@dataclass(frozen=True)
class Page:
    """The metrics page of the model pod, whose address is one of this machine."""

    plane: ControlPlane
    address: str
    port: int

    def serve(self) -> None:
        options = (f"--port={self.port}", f"--haste={HASTE}")
        command = [sys.executable, "-m", "tests.support.stubs.exporter", "cold", *options]
        self.plane.run("stub-exporter", command, {**os.environ, "PYTHONPATH": str(ROOT)})
        until(lambda: self._text() is not None, within=60, what="the stub answers")

    def is_of_vllm(self) -> bool:
        return "vllm:" in (self._text() or "")

    def _text(self) -> str | None:
        with contextlib.suppress(OSError):
            url = f"http://{self.address}:{self.port}/metrics"
            with urllib.request.urlopen(url, timeout=5) as answer:
                return str(answer.read(), "utf-8")
        return None


# ---------------------------------------------------------------- all at once


@dataclass(frozen=True)
class StartOutcomes:
    """The Events of each namespace."""

    events: dict[str, list[Event]]
    never_ready_event: Event


@pytest.fixture(scope="module")
def starts(stack: ControlPlane) -> Iterator[StartOutcomes]:
    with contextlib.ExitStack() as after:
        plane = after.enter_context(restore.healthy_stack(stack))
        after.callback(remove, plane, NAMES)
        register_class(plane.client)
        executor = after.enter_context(ThreadPoolExecutor())
        list(executor.map(lambda name: _install(TeamStack(plane, name)), NAMES))
        time.sleep(GRACE)
        page = Page(plane, routable_address(), free_port())
        flags = (f"--weight-download-metric-port={page.port}", f"--startup-grace-seconds={GRACE}")
        with ReporterProcess(
            plane, *flags, observer.NO_PAGES, *SHORT_SCRAPES, *observer.short_hold_flags(plane)
        ) as reporter:
            watcher = Observer(reporter)
            failing = [executor.submit(_fail, plane, name) for name in FAILURES]
            never = executor.submit(_fails_with(faults.STARTING), TeamStack(plane, NEVER))
            _cold_start(TeamStack(plane, COLD), watcher, page)
            watcher.wait_all_clear(COLD)
            for each in (*failing, never):
                each.result(timeout=180)
            announced = {name: watcher.events(name) for name in NAMES}
        with ReporterProcess(plane, _hasty(plane)):
            yield StartOutcomes(
                announced, events.wait_for(plane.client, PODS, within=60, containing=NEVER)
            )


def test_cold_start_causes_no_event(starts: StartOutcomes) -> None:
    assert starts.events[COLD] == []


@pytest.mark.parametrize("name", FAILURES)
def test_start_that_fails_is_announced_once_with_why(starts: StartOutcomes, name: str) -> None:
    _, reason, why = FAILURES[name]
    assert [(each.type, each.reason, each.count) for each in starts.events[name]] == [
        ("Warning", reason, 1)
    ]
    assert why in starts.events[name][0].message


def test_model_that_is_never_ready_is_announced_when_its_time_is_over(
    starts: StartOutcomes,
) -> None:
    assert starts.events[NEVER] == []
    begin = f"InferenceSet {NEVER}/qwen: model pod {WORKSPACE}-0 is not ready: ContainerCreating"
    assert starts.never_ready_event.message.startswith(f"{begin} (no progress for ")


# ---------------------------------------------------------------- used above


def _install(team: TeamStack) -> None:
    """Install everything except the objects that KAITO creates."""
    for each in team.chart_manifests():
        team.client.apply(each)
    team.accept_gateway()
    team.wait_started()
    team.program_gateway()
    team.authorize_api_key()


def _fail(plane: ControlPlane, name: str) -> None:
    start, reason, _ = FAILURES[name]
    start(TeamStack(plane, name))
    events.wait_for(plane.client, reason, within=60, containing=f"InferenceSet {name}/qwen")


def _hasty(plane: ControlPlane) -> str:
    """Return the flag with which a starting model is held for only a few seconds."""
    path = plane.folder / "hasty.yaml"
    path.write_text(json.dumps({"reasons": {PODS: {"hold": {"starting": "5s"}}}}))
    return f"--catalogue-overlay={path}"
