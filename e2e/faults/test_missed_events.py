"""A proxy between reporter and API server swallows single lines of watches that stay open."""

import time
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, Json, until
from e2e.faults.support.proxy import FaultProxy, fault_proxy
from e2e.faults.support.proxy_rules import ProxyRule
from e2e.support.production_stack import inference_sets, workload
from e2e.support.reporter_process import ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS


TEAM, MODEL = "team-0", "model-0"
POD = f"{MODEL}-7rk2p-0"
PODS = f"/api/v1/namespaces/{TEAM}/pods"
FLAGS = ("--scrape=off", *SHORT_FLAGS)
"""Without metrics pages, of which the pods here have none: the InferenceSet would be Unknown."""

LOOKS = r"fieldSelector=metadata\.name"
HEALING = 5
"""Seconds in which a missed change of a young object is found: two looks, the list and a pass."""


@pytest.fixture(scope="module")
def bare(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with inference_sets.lent_plane(small_plane, 1) as plane:
        yield plane


@pytest.fixture
def proxy(bare: ControlPlane) -> Iterator[FaultProxy]:
    """A proxy to a control plane whose pod is young and Ready."""
    _recreate_pod(bare)
    with fault_proxy(bare) as proxy:
        yield proxy


def _recreate_pod(plane: ControlPlane) -> None:
    path = f"{PODS}/{POD}"
    if plane.client.exists(path):
        plane.client.delete(f"{path}?gracePeriodSeconds=0")
        until(lambda: not plane.client.exists(path), within=60, what="the pod is gone")
    found = [
        each for each in workload.manifests(1) if workload.object_key(each) == ("Pod", TEAM, POD)
    ]
    workload.write_all(plane, found)


def _set_ready(plane: ControlPlane, *, ready: bool) -> None:
    pod = plane.client.get(f"{PODS}/{POD}")
    word = "True" if ready else "False"
    conditions = [
        {**each, "status": word if "Ready" in each["type"] else each["status"]}
        for each in pod["status"]["conditions"]
    ]
    containers = [{**each, "ready": ready} for each in pod["status"]["containerStatuses"]]
    status = {"conditions": conditions, "containerStatuses": containers}
    plane.client.patch(f"{PODS}/{POD}/status", {"status": status})


def _state(reporter: ReporterProcess) -> str:
    found: Json = reporter.status_v1(f"namespaces/{TEAM}/{MODEL}")
    # Before the first pass that knows it there is an error, or a namespace without models.
    models = [each for team in found.get("namespaces", []) for each in team["inferenceSets"]]
    return str(models[0]["state"]) if models else ""


def _wait_for(reporter: ReporterProcess, state: str, *, within: float = PROMPT_TIMEOUT) -> None:
    until(lambda: _state(reporter) == state, within=within, what=f"{MODEL} is {state}")


def _swallow(proxy: FaultProxy, lines: int = 1) -> None:
    """Swallow the next lines about the pod."""
    swallowed: list[bytes] = []

    def transform(line: bytes) -> bytes:
        if len(swallowed) == lines or f'"name":"{POD}"'.encode() not in line:
            return line
        swallowed.append(line)
        return b""

    proxy.add(ProxyRule(r"/pods\?.*watch=1", transform=transform))


@pytest.mark.parametrize("change", ["becomes-ready", "is-deleted"])
def test_what_an_open_watch_does_not_deliver_is_found_in_seconds(
    bare: ControlPlane, proxy: FaultProxy, change: str
) -> None:
    with ReporterProcess(bare, proxy.flag(), *FLAGS) as reporter:
        _wait_for(reporter, "Current")
        _set_ready(bare, ready=False)
        _wait_for(reporter, "InProgress")
        relists, pods = (
            reporter.metric(each, kind="pods") for each in ("relists_total", "objects")
        )
        began = time.monotonic()
        if change == "becomes-ready":
            _swallow(proxy)
            _set_ready(bare, ready=True)
            until(
                lambda: reporter.metric("watch_missed_total", kind="pods"),
                within=HEALING + PROMPT_TIMEOUT,
                what="the line is missed",
            )
        else:
            # Before a pod is deleted, it gets its deletionTimestamp.
            _swallow(proxy, lines=2)
            bare.client.delete(f"{PODS}/{POD}?gracePeriodSeconds=0")
            until(
                lambda: reporter.metric("objects", kind="pods") == pods - 1,
                within=HEALING + PROMPT_TIMEOUT,
                what="the pod is known to be gone",
            )
        print(f"found after {time.monotonic() - began:.1f} s")
        if change == "becomes-ready":
            _wait_for(reporter, "Current")
        assert reporter.metric("watch_missed_total", kind="pods") == 1
        assert reporter.metric("watch_missed_total") == 1
        assert reporter.metric("relists_total", kind="pods") == relists + 1
        assert len(reporter.lines("has missed a change of", f"{TEAM}/{POD}")) == 1


@pytest.mark.slow
def test_without_it_the_change_stays_missed(bare: ControlPlane, proxy: FaultProxy) -> None:
    """The fault is real: nothing else finds the change."""
    with ReporterProcess(bare, proxy.flag(), "--second-look=false", *FLAGS) as reporter:
        _wait_for(reporter, "Current")
        _set_ready(bare, ready=False)
        _wait_for(reporter, "InProgress")
        _swallow(proxy)
        _set_ready(bare, ready=True)
        time.sleep(HEALING)
        assert _state(reporter) != "Current"
        assert proxy.count(LOOKS) == 0


def test_nothing_is_read_while_all_is_current(bare: ControlPlane, proxy: FaultProxy) -> None:
    with ReporterProcess(bare, proxy.flag(), *FLAGS) as reporter:
        _wait_for(reporter, "Current")
        before = time.monotonic()
        time.sleep(HEALING)
        assert proxy.count(LOOKS, since=before) == 0
        _set_ready(bare, ready=False)
        until(lambda: proxy.count(LOOKS) > 1, within=PROMPT_TIMEOUT, what="the pod is looked at")
