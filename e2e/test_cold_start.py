"""
Models that start from nothing, in the steps of the real ones: node, image, download, compilation.

One comes up and not a word is said. Of the others each fails in a step of its own, all at the same
time, and each is told of once. What starts has the time that it has as shipped; the model that never
becomes ready is told of by a process for which a start may take seconds.
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

from e2e import ears, events, repair, statuses
from e2e.address import beyond_loopback
from e2e.controlplane import ControlPlane, Json, faults, until
from e2e.controlplane.processes import free_port
from e2e.ears import LONGER, Ears
from e2e.events import Event
from e2e.kaito import PENDING, WITH_NODES, without_nodes
from e2e.patience import GRACE
from e2e.reporter_process import ReporterProcess
from e2e.team import Team, register_class, remove


ROOT = Path(__file__).parent.parent
WORKSPACE = "qwen-7rk2p"
PODS, INFRA = "inferencesetModelPodsNotReady", "inferencesetInfraProvisioningFailed"
QUOTA = "creating instance, subscription level on-demand vCPU quota has been reached"
HASTE, WINDOW = 30, 4
"""
How many seconds of a download pass in one; seconds of slow pages that are told of.
"""

BRISK = (f"--weight-download-window-seconds={WINDOW}", "--scrape-interval-seconds=1")
NEVER, COLD = "never-ready", "cold"


# ---------------------------------------------------------------- the starts


def _asks_for_a_node(team: Team) -> None:
    team.kaito.workspace(WORKSPACE)
    team.kaito.count(0)
    time.sleep(LONGER)
    team.kaito.say(WORKSPACE, without_nodes("AwaitingReconciliation"))


def _quota(team: Team) -> None:
    _asks_for_a_node(team)
    team.kaito.say(WORKSPACE, without_nodes(f"SubscriptionQuotaReached: {QUOTA}"))


def _fails_with(fault: faults.Fault) -> Callable[[Team], None]:
    def start(team: Team) -> None:
        _asks_for_a_node(team)
        team.kaito.say(WORKSPACE, WITH_NODES | PENDING)
        team.kaito.pods(WORKSPACE, fault.annotations())
        team.kaito.pod(WORKSPACE)

    return start


FAILURES: dict[str, tuple[Callable[[Team], None], str, str]] = {
    "quota": (_quota, INFRA, "SubscriptionQuotaReached"),
    "image": (_fails_with(faults.IMAGE_PULL), PODS, "ImagePullBackOff"),
    "crash": (_fails_with(faults.CRASH_LOOP), PODS, "CrashLoopBackOff (exit code 1"),
    "memory": (_fails_with(faults.OUT_OF_MEMORY), PODS, "after OOMKilled (exit code 137"),
}
NAMES = (COLD, NEVER, *FAILURES)


def _cold(team: Team, listening: Ears, page: "Page") -> None:
    """
    A quarter of an hour, in half a minute.
    """
    _asks_for_a_node(team)
    for reason in ("NodeNotFound", "StartupTaintsExist"):
        listening.until_held(team.name, INFRA)
        team.kaito.say(WORKSPACE, without_nodes(reason))
        time.sleep(LONGER)
    team.kaito.say(WORKSPACE, WITH_NODES | PENDING)
    team.kaito.pods(WORKSPACE, {"fault.e2e/hold": "true"})
    pulling = {"phase": "Pending", **_container({"waiting": {"reason": "ContainerCreating"}})}
    faults.write_status(team.client, team.kaito.pod(WORKSPACE), pulling)
    listening.until_held(team.name, PODS)
    time.sleep(LONGER)
    page.serve()
    loading = _container({"running": {"startedAt": statuses.now()}})
    where = {"podIP": page.address, "podIPs": [{"ip": page.address}]}
    status = {"phase": "Running", **where, **loading}
    faults.write_status(team.client, team.kaito.pod(WORKSPACE), status)
    read = listening.reporter.metric("scrapes_total", result="read")
    until(page.is_of_vllm, within=60, what="vLLM has its port")
    assert listening.reporter.metric("scrapes_total", result="read") >= read + WINDOW
    team.kaito.until_started(WORKSPACE)


def _container(state: Json) -> Json:
    """
    Of a pod that is not Ready.
    """
    container = {"name": WORKSPACE, "image": "", "imageID": "", "ready": False, "restartCount": 0}
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": statuses.now()}
    return {"conditions": [ready], "containerStatuses": [{**container, "state": state}]}


@dataclass(frozen=True)
class Page:
    """
    Of the model pod, which has an address of this machine.
    """

    plane: ControlPlane
    address: str
    port: int

    def serve(self) -> None:
        options = (f"--port={self.port}", f"--haste={HASTE}")
        command = [sys.executable, "-m", "e2e.stub_exporter", "cold", *options]
        self.plane.run("stub-exporter", command, {**os.environ, "PYTHONPATH": str(ROOT)})
        until(lambda: self._text() is not None, within=30, what="the stub answers")

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
class Starts:
    """
    What was said in each namespace.
    """

    said: dict[str, list[Event]]
    never: Event


@pytest.fixture(scope="module")
def starts(stack: ControlPlane) -> Iterator[Starts]:
    with contextlib.ExitStack() as after:
        plane = after.enter_context(repair.mended(stack))
        after.callback(remove, plane, NAMES)
        register_class(plane.client)
        hands = after.enter_context(ThreadPoolExecutor())
        list(hands.map(lambda name: _install(Team(plane, name)), NAMES))
        time.sleep(GRACE)
        page = Page(plane, beyond_loopback(), free_port())
        flags = (f"--weight-download-metric-port={page.port}", f"--startup-grace-seconds={GRACE}")
        with ReporterProcess(plane, *flags, *BRISK, *ears.impatient(plane)) as reporter:
            listening = Ears(reporter)
            failing = [hands.submit(_fail, plane, name) for name in FAILURES]
            never = hands.submit(_fails_with(faults.STARTING), Team(plane, NEVER))
            _cold(Team(plane, COLD), listening, page)
            listening.until_all_is_clear(COLD)
            for each in (*failing, never):
                each.result(timeout=60)
            said = {name: listening.said(name) for name in NAMES}
        with ReporterProcess(plane, _hasty(plane)):
            yield Starts(said, events.wait_for(plane.client, PODS, within=60, saying=NEVER))


def test_cold_start_is_silent(starts: Starts) -> None:
    assert starts.said[COLD] == []


@pytest.mark.parametrize("name", FAILURES)
def test_start_that_fails_is_told_of_once_with_why(starts: Starts, name: str) -> None:
    _, reason, why = FAILURES[name]
    assert [(each.type, each.reason, each.count) for each in starts.said[name]] == [
        ("Warning", reason, 1)
    ]
    assert why in starts.said[name][0].message


def test_model_that_is_never_ready_is_told_of_when_its_time_is_over(starts: Starts) -> None:
    assert starts.said[NEVER] == []
    begin = f"InferenceSet {NEVER}/qwen: model pod {WORKSPACE}-0 is not ready: ContainerCreating"
    assert starts.never.message.startswith(f"{begin} (no progress for ")


# ---------------------------------------------------------------- used above


def _install(team: Team) -> None:
    """
    All but what KAITO makes.
    """
    for each in team.charts():
        team.client.apply(each)
    team.takes_on()
    team.until_started()
    team.programs()
    team.authorizes()


def _fail(plane: ControlPlane, name: str) -> None:
    start, reason, _ = FAILURES[name]
    start(Team(plane, name))
    events.wait_for(plane.client, reason, within=60, saying=f"InferenceSet {name}/qwen")


def _hasty(plane: ControlPlane) -> str:
    """
    The flag with which a model has seconds to start.
    """
    path = plane.folder / "hasty.yaml"
    path.write_text(json.dumps({"reasons": {PODS: {"hold": {"starting": "5s"}}}}))
    return f"--catalogue-overlay={path}"
