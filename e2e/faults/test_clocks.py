"""
Wall clocks that are wrong, or jump: the API server's time counts, and nothing comes early or late.
"""

import datetime as dt
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e import events, repair, stack
from e2e.controlplane import ControlPlane, until
from e2e.controlplane.faults import IMAGE_PULL, break_pod, mend_pod
from e2e.events import Event
from e2e.faults.changed_world import SHIFT_FILE
from e2e.faults.replicas import replica
from e2e.patience import AT_ONCE, QUICK, SETTLE, overlaid
from e2e.reporter_process import LEASE
from e2e.stack import BODY_BASED_ROUTER, ISTIOD


BBR, ISTIO, READY = "clusterBBRNotReady", "clusterIstioControlPlaneNotReady", "clusterReady"
HOUR = 3600
LEASE_SECONDS = 6
HEARTBEAT = 11
HOLD = 8
BEATING = (*QUICK, "--heartbeat-seconds=10")


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with repair.mended(stack) as plane:
        yield plane


@dataclass
class WallClock:
    """
    Of one process, so many seconds from the truth.
    """

    file: Path

    def wrong_by(self, seconds: float) -> dict[str, str]:
        """
        At once; what is returned makes it the clock of a process that is started with it.
        """
        new = self.file.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self.file)
        return {SHIFT_FILE: str(self.file)}


def test_replicas_an_hour_ahead_and_an_hour_behind_follow_each_other(
    plane: ControlPlane, tmp_path: Path
) -> None:
    ahead, behind = WallClock(tmp_path / "ahead"), WallClock(tmp_path / "behind")
    flags = BEATING
    with (
        replica(plane, "ahead", *flags, env=ahead.wrong_by(HOUR), leading=True) as one,
        replica(plane, "behind", *flags, env=behind.wrong_by(-HOUR)) as two,
    ):
        stack.scale(plane.client, BODY_BASED_ROUTER, 0)
        first = events.wait_for(plane.client, BBR, within=AT_ONCE)
        assert _is_dated_now(first)
        assert _is_now(plane.client.get(LEASE)["spec"]["renewTime"])
        assert two.reporter.states().keys() == {BBR}
        one.reporter.kill()
        within = max(HEARTBEAT, LEASE_SECONDS) + AT_ONCE
        again = events.wait_for(plane.client, BBR, within=within, count=2)
        assert _is_dated_now(again)
        assert (again.uid, again.raw["reportingInstance"]) == (first.uid, "behind")
        assert _is_now(plane.client.get(LEASE)["spec"]["renewTime"])
        stack.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
        assert _is_dated_now(events.wait_for(plane.client, READY, within=SETTLE + AT_ONCE))
        assert events.reasons(plane.client) == [BBR, READY]


def test_clock_that_jumps_brings_nothing_forward_and_puts_nothing_off(
    plane: ControlPlane, tmp_path: Path
) -> None:
    clock = WallClock(tmp_path / "clock")
    flags = (*BEATING, overlaid(plane, {"failed": f"{HOLD}s", "lost": f"{HOLD}s"}))
    (pod,) = stack.pods(plane.client, ISTIOD)
    with replica(plane, "jumping", *flags, env=clock.wrong_by(0), leading=True) as one:
        begun = time.monotonic()
        break_pod(plane.client, pod, IMAGE_PULL)
        until(lambda: one.reporter.states() == {ISTIO: "held"}, within=AT_ONCE, what="it is held")
        clock.wrong_by(HOUR)
        said = events.wait_for(plane.client, ISTIO, within=HOLD + AT_ONCE)
        assert time.monotonic() - begun > HOLD - 1
        assert _is_dated_now(said)
        clock.wrong_by(-HOUR)
        again = events.wait_for(plane.client, ISTIO, within=HEARTBEAT + AT_ONCE, count=2)
        assert time.monotonic() - begun > HOLD + HEARTBEAT - 3
        assert (again.count, again.uid) == (2, said.uid)
        assert _is_dated_now(again)
        mend_pod(plane.client, pod)
        clock.wrong_by(HOUR)
        events.wait_for(plane.client, READY, within=SETTLE + AT_ONCE)
        assert one.reporter.lines("no longer leading") == []
        assert events.reasons(plane.client) == [ISTIO, READY]


# ---------------------------------------------------------------- used above


def _is_dated_now(event: Event) -> bool:
    """
    In all that this write of it dates.
    """
    raw = event.raw
    first = (raw["firstTimestamp"], raw["eventTime"])
    later = first if event.count == 1 else (raw["series"]["lastObservedTime"],)
    return all(map(_is_now, (raw["lastTimestamp"], *later)))


def _is_now(text: str) -> bool:
    away = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(text)
    return abs(away.total_seconds()) < AT_ONCE
