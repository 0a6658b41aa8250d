"""
Everyday changes of a healthy cluster, which cause no Event.

Every change lasts longer than the holds of losses and hard errors, so that one mistaken for either
would be announced, and shorter than that of starting objects, on any machine. At the end nothing is held or settling any more, so nothing can follow.
"""

import json
import time
from collections.abc import Callable, Iterator

import pytest

from e2e.controlplane import ControlPlane, Json, faults, nodes, until
from e2e.support import events
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import (
    BODY_BASED_ROUTER,
    ISTIOD,
    KAITO_WORKSPACE,
    StackComponent,
)
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import GRACE, PROMPT_TIMEOUT, SETTLE, holds_overlay_flag


LONG_GRACE = 300
HOLDS = {"failed": "1s", "lost": "1s", "starting": "300s"}
LONGER = 2.5
"""Seconds; losses and hard errors are held for one."""

NODE = "/api/v1/nodes/node-0"


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    """A plane whose Deployments are too old for the startup grace."""
    with restore.healthy_stack(stack) as plane:
        yield plane


@pytest.fixture
def reporter(plane: ControlPlane) -> Iterator[ReporterProcess]:
    with ReporterProcess(plane, *_patient(plane, GRACE)) as reporter:
        yield reporter


def test_rolling_restart_that_may_leave_no_pod_causes_no_event(reporter: ReporterProcess) -> None:
    client = reporter.plane.client
    components.roll_out_slowly(reporter.plane.client, KAITO_WORKSPACE)
    _until_held(reporter, "clusterKaitoControllerNotReady")
    time.sleep(LONGER)
    assert not components.is_ready(components.deployment(client, KAITO_WORKSPACE))
    components.until_started(client, KAITO_WORKSPACE)
    _assert_no_event(reporter)


def test_surge_rollout_causes_no_event(reporter: ReporterProcess) -> None:
    client = reporter.plane.client
    components.roll_out_slowly(reporter.plane.client, ISTIOD)
    until(lambda: len(components.pods(client, ISTIOD)) == 2, within=60, what="there are two pods")
    time.sleep(LONGER)
    assert len(components.pods(client, ISTIOD)) == 2
    assert reporter.states() == {}
    components.until_started(client, ISTIOD)
    _assert_no_event(reporter)


def test_scaling_up_causes_no_event(reporter: ReporterProcess) -> None:
    client = reporter.plane.client
    client.patch(NODE, {"spec": {"unschedulable": True}})
    components.scale(client, BODY_BASED_ROUTER, 4)
    _until_held(reporter, "clusterBBRNotReady")
    time.sleep(LONGER)
    client.patch(NODE, {"spec": {"unschedulable": None}})
    components.until_ready(client, BODY_BASED_ROUTER)
    _assert_no_event(reporter)


def test_drained_node_whose_replacement_comes_causes_no_event(reporter: ReporterProcess) -> None:
    plane = reporter.plane
    plane.kubectl("drain", "node-0", "--force", "--ignore-daemonsets", "--delete-emptydir-data")
    _until_held(reporter, "clusterBBRNotReady")
    time.sleep(LONGER)
    nodes.create(plane.client, "node-1")
    for component in components.COMPONENTS:
        components.until_ready(plane.client, component)
    _assert_no_event(reporter)


def test_first_installation_within_the_grace_causes_no_event(plane: ControlPlane) -> None:
    for component in components.COMPONENTS:
        plane.client.delete(components.path(component))
    with ReporterProcess(plane, *_patient(plane, LONG_GRACE)) as reporter:
        _until_held(reporter, "clusterIstioControlPlaneNotReady")
        time.sleep(LONGER)
        for component in components.COMPONENTS:
            plane.client.create(_collection(component), _starting(component))
        time.sleep(LONGER)
        assert "held" in reporter.states().values()
        for component in components.COMPONENTS:
            components.until_started(plane.client, component)
        _assert_no_event(reporter)


# ---------------------------------------------------------------- used above


def _patient(plane: ControlPlane, grace: int) -> tuple[str, ...]:
    """
    Return the flags with short holds of hard errors and losses, and a long one of starting objects.
    """
    times = (f"--startup-grace-seconds={grace}", f"--settle-seconds={SETTLE}")
    return (*times, holds_overlay_flag(plane, HOLDS))


def _assert_no_event(reporter: ReporterProcess) -> None:
    until(
        lambda: not reporter.states(), within=SETTLE + 2 * PROMPT_TIMEOUT, what="nothing is held"
    )
    assert events.reporter_events(reporter.plane.client) == []
    assert reporter.metric("event_writes_total") == 0


def _until_held(reporter: ReporterProcess, reason: str) -> None:
    held: Callable[[], bool] = lambda: reporter.states().get(reason) == "held"  # noqa: E731
    until(held, within=PROMPT_TIMEOUT, what=f"{reason} is held")


def _starting(component: StackComponent) -> Json:
    manifest: Json = json.loads(json.dumps(components.deployment_manifest(component)))
    annotations = faults.STARTING.annotations()
    manifest["spec"]["template"]["metadata"]["annotations"] = annotations
    return manifest


def _collection(component: StackComponent) -> str:
    return components.path(component).rpartition("/")[0]
