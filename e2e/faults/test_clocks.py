"""
Wall clocks that are wrong, or jump: the API server's time counts, and nothing comes early or late.
"""

import datetime as dt
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.controlplane.faults import IMAGE_PULL, clear_pod_fault, set_pod_fault
from e2e.faults.support.replicas import running_replica
from e2e.faults.support.wall_clock import WallClock
from e2e.support import events
from e2e.support.events import Event
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER, ISTIOD
from e2e.support.reporter_process import LEASE
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS, holds_overlay_flag


BBR, ISTIO, READY = "clusterBBRNotReady", "clusterIstioControlPlaneNotReady", "clusterReady"
HOUR = 3600
LEASE_SECONDS = 6
HEARTBEAT = 11
HOLD = 8
BEATING = (*SHORT_FLAGS, "--heartbeat-seconds=10")


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


def test_replicas_an_hour_ahead_and_an_hour_behind_follow_each_other(
    plane: ControlPlane, tmp_path: Path
) -> None:
    ahead, behind = WallClock(tmp_path / "ahead"), WallClock(tmp_path / "behind")
    flags = BEATING
    with (
        running_replica(plane, "ahead", *flags, env=ahead.wrong_by(HOUR), leading=True) as one,
        running_replica(plane, "behind", *flags, env=behind.wrong_by(-HOUR)) as two,
    ):
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        first = events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        assert is_dated_now(first)
        assert _is_now(plane.client.get(LEASE)["spec"]["renewTime"])
        assert two.reporter.states().keys() == {BBR}
        one.reporter.kill()
        within = max(HEARTBEAT, LEASE_SECONDS) + PROMPT_TIMEOUT
        again = events.wait_for(plane.client, BBR, within=within, count=2)
        assert is_dated_now(again)
        assert (again.uid, again.raw["reportingInstance"]) == (first.uid, "behind")
        assert _is_now(plane.client.get(LEASE)["spec"]["renewTime"])
        components.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
        assert is_dated_now(events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT))
        assert events.reasons(plane.client) == [BBR, READY]


def test_clock_that_jumps_brings_nothing_forward_and_puts_nothing_off(
    plane: ControlPlane, tmp_path: Path
) -> None:
    clock = WallClock(tmp_path / "clock")
    flags = (*BEATING, holds_overlay_flag(plane, {"failed": f"{HOLD}s", "lost": f"{HOLD}s"}))
    (pod,) = components.pods(plane.client, ISTIOD)
    with running_replica(plane, "jumping", *flags, env=clock.wrong_by(0), leading=True) as one:
        begun = time.monotonic()
        set_pod_fault(plane.client, pod, IMAGE_PULL)
        until(
            lambda: one.reporter.states() == {ISTIO: "held"},
            within=PROMPT_TIMEOUT,
            what="it is held",
        )
        clock.wrong_by(HOUR)
        announced = events.wait_for(plane.client, ISTIO, within=HOLD + PROMPT_TIMEOUT)
        assert time.monotonic() - begun > HOLD - 1
        assert is_dated_now(announced)
        clock.wrong_by(-HOUR)
        again = events.wait_for(plane.client, ISTIO, within=HEARTBEAT + PROMPT_TIMEOUT, count=2)
        assert time.monotonic() - begun > HOLD + HEARTBEAT - 3
        assert (again.count, again.uid) == (2, announced.uid)
        assert is_dated_now(again)
        clear_pod_fault(plane.client, pod)
        clock.wrong_by(HOUR)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert one.reporter.lines("no longer leading") == []
        assert events.reasons(plane.client) == [ISTIO, READY]


# ---------------------------------------------------------------- used above


def is_dated_now(event: Event) -> bool:
    """
    Return whether all times that this write sets are the present.
    """
    raw = event.raw
    first = (raw["firstTimestamp"], raw["eventTime"])
    later = first if event.count == 1 else (raw["series"]["lastObservedTime"],)
    return all(map(_is_now, (raw["lastTimestamp"], *later)))


def _is_now(text: str) -> bool:
    away = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(text)
    return abs(away.total_seconds()) < PROMPT_TIMEOUT
