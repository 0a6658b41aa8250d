"""
Wall clocks that are wrong, or jump: the API server's time counts, and nothing comes early or late.
"""

import datetime as dt
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, Json, until
from e2e.controlplane.faults import IMAGE_PULL, clear_pod_fault, set_pod_fault
from e2e.faults.support.replicas import running_replica, wait_for_write_of
from e2e.faults.support.wall_clock import WallClock
from e2e.support import events
from e2e.support.elections import LEASE_SECONDS
from e2e.support.events import Event
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER, ISTIOD
from e2e.support.reporter_process import LEASE
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS, holds_overlay_flag


BBR, ISTIO, READY = "clusterBBRNotReady", "clusterIstioControlPlaneNotReady", "clusterReady"
HOUR = 3600
HEARTBEAT = 10
HOLD = 15
BEATING = (*SHORT_FLAGS, f"--heartbeat-seconds={HEARTBEAT}")
WRITTEN_WITHIN = 12
"""
Seconds from the time in an object to its write, on a machine that gives the reporter no turn.
"""


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
        assert is_dated_at_its_write(first)
        assert _is_lease_dated_at_its_write(plane)
        until(
            lambda: two.reporter.states().keys() == {BBR},
            within=PROMPT_TIMEOUT,
            what="the other one sees it as well",
        )
        (last,) = events.reporter_events(plane.client, BBR)
        one.reporter.kill()
        within = LEASE_SECONDS + HEARTBEAT + PROMPT_TIMEOUT
        again = wait_for_write_of(plane, BBR, "behind", within=within)
        assert is_dated_at_its_write(again)
        assert again.uid == first.uid
        assert again.count > last.count
        assert _is_lease_dated_at_its_write(plane)
        components.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
        ready = events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert is_dated_at_its_write(ready)
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
        held = (f"cluster {ISTIO}: held",)  # in the log it stays after the hold
        until(lambda: one.reporter.lines(*held), within=PROMPT_TIMEOUT, what="it is held")
        clock.wrong_by(HOUR)
        announced = events.wait_for(plane.client, ISTIO, within=HOLD + PROMPT_TIMEOUT)
        assert time.monotonic() - begun > HOLD - 1
        assert is_dated_at_its_write(announced)
        clock.wrong_by(-HOUR)
        again = events.wait_for(plane.client, ISTIO, within=HEARTBEAT + PROMPT_TIMEOUT, count=2)
        beats = again.count - announced.count
        assert time.monotonic() - begun > HOLD + beats * HEARTBEAT - 2
        assert again.uid == announced.uid
        assert is_dated_at_its_write(again)
        clear_pod_fault(plane.client, pod)
        clock.wrong_by(HOUR)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert one.reporter.lines("no longer leading") == []
        assert events.reasons(plane.client) == [ISTIO, READY]


# ---------------------------------------------------------------- used above


def is_dated_at_its_write(event: Event) -> bool:
    """Return whether all times that the newest write sets are the API server's at that write."""
    raw = event.raw
    first = (raw["firstTimestamp"], raw["eventTime"])
    later = first if event.count == 1 else (raw["series"]["lastObservedTime"],)
    return all(_is_at_write(raw, each) for each in (raw["lastTimestamp"], *later))


def _is_lease_dated_at_its_write(plane: ControlPlane) -> bool:
    lease = plane.client.get(LEASE)
    return _is_at_write(lease, lease["spec"]["renewTime"])


def _is_at_write(written: Json, text: str) -> bool:
    """
    Compare a time with that of the newest write, which the API server keeps in `managedFields`.
    """
    writes = [dt.datetime.fromisoformat(e["time"]) for e in written["metadata"]["managedFields"]]
    away = max(writes) - dt.datetime.fromisoformat(text)
    return abs(away.total_seconds()) < WRITTEN_WITHIN
