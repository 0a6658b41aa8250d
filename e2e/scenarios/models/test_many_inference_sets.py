"""
A registry that fails takes down two hundred models of a namespace: one Event, and one when all are
back.
"""

from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, Json
from e2e.support import events
from e2e.support.production_stack import statuses, workload
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SETTLE


SETS = 200
TEAM = "team-0"
PODS, READY = "inferencesetModelPodsNotReady", "inferencesetReady"
PULL = 'failed to pull image "example/vllm:1": registry does not answer'
BEATING = "--heartbeat-seconds=10"
"""The flag for the count of subjects in an Event, which is updated with a heartbeat."""

MADE_FOR = "inferenceset.kaito.sh/created-by"
"""The label of what KAITO makes for a model; its picker has none."""


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(workload.MINIMAL_OPTIONS) as plane:
        workload.write_all(plane, workload.manifests(SETS, of_a_team=SETS))
        yield plane


@pytest.mark.slow  # of many models the losses in test_lost_capacity.py show the same
@pytest.mark.controlplane
def test_two_hundred_models_that_fail_within_a_minute_are_one_event_and_one_ready(
    plane: ControlPlane,
) -> None:
    pods = plane.client.list(f"/api/v1/namespaces/{TEAM}/pods")
    models = [each for each in pods if MADE_FOR in each["metadata"].get("labels", {})]
    assert len(models) == SETS
    with ReporterProcess(plane, f"--settle-seconds={SETTLE}", BEATING):
        for pod in models:
            _write(plane, pod, _failing(pod))
        event = events.wait_for(plane.client, PODS, within=60, containing="and 197 more")
        assert _announced(plane) == [("Warning", PODS)]
        assert event.involved == ("Namespace", TEAM)
        assert "ImagePullBackOff" in event.message
        for pod in models:
            _write(plane, pod, pod["status"])
        events.wait_for(plane.client, READY, within=60, containing="and 197 more")
        assert _announced(plane) == [("Warning", PODS), ("Normal", READY)]


def _announced(plane: ControlPlane) -> list[tuple[str, str]]:
    return [(each.type, each.reason) for each in events.reporter_events(plane.client)]


def _failing(pod: Json) -> Json:
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": statuses.timestamp()}
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": PULL}}
    containers = [
        {**each, "ready": False, "state": waiting} for each in pod["status"]["containerStatuses"]
    ]
    return {**pod["status"], "conditions": [ready], "containerStatuses": containers}


def _write(plane: ControlPlane, pod: Json, status: Json) -> None:
    path = f"/api/v1/namespaces/{TEAM}/pods/{pod['metadata']['name']}"
    live = plane.client.get(path)
    plane.client.put(f"{path}/status", {**live, "status": status})
