"""Clocks that jump, an hour without a reporter, and two leaders at once: one object an episode."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.faults.support.replicas import running_replica
from e2e.faults.support.wall_clock import WallClock
from e2e.support import events
from e2e.support.health_events import FLAGS, phases, until_phases
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS
from reporter.kube.event_format import EPISODE_LABEL


pytestmark = pytest.mark.controlplane

SLOW = 60
HOUR = 3600
ACTIVE = f"{INVALID_REASON} team-0/model-{{}} Active"
CLEARED = f"{INVALID_REASON} team-0/model-{{}} Resolved Cleared"


@pytest.mark.parametrize("start", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_clock_that_is_wrong_and_jumps_makes_one_object_an_episode(
    plane: ControlPlane, tmp_path: Path, start: int
) -> None:
    client, clock = plane.client, WallClock(tmp_path / "clock")
    flags = (*SHORT_FLAGS, *FLAGS, f"--store-retention-seconds={HOUR // 2}")
    with running_replica(plane, "jumping", *flags, env=clock.wrong_by(start), leading=True):
        inference_sets.misconfigure(client, 0)
        (first,) = until_phases(client, ACTIVE.format(0), within=SLOW)
        assert is_now(first["spec"]["generatedTimestamp"])
        clock.wrong_by(-start)
        inference_sets.misconfigure(client, 1)
        until_phases(client, ACTIVE.format(0), ACTIVE.format(1), within=SLOW)
        inference_sets.repair(client, 0)
        kept = until_phases(client, CLEARED.format(0), ACTIVE.format(1), within=SLOW)
        (over,) = (each for each in kept if each["status"]["phase"] == "Resolved")
        assert is_now(over["status"]["resolvedTime"])
        assert over["metadata"]["uid"] == first["metadata"]["uid"]
        clock.wrong_by(24 * HOUR)
        inference_sets.repair(client, 1)
        kept = until_phases(client, CLEARED.format(0), CLEARED.format(1), within=SLOW)
        assert len(kept) == 2, "nothing goes before its time"


def is_now(text: str) -> bool:
    away = datetime.now(UTC) - datetime.fromisoformat(text)
    return abs(away) < timedelta(seconds=SLOW)


def test_trouble_that_lasts_for_an_hour_without_a_reporter_continues_its_object(
    plane: ControlPlane,
) -> None:
    """
    Its Event has expired by then, which is deleted here instead; the object says what it said.
    """
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS):
        inference_sets.misconfigure(client, 0)
        (first,) = until_phases(client, ACTIVE.format(0), within=SLOW)
        written = events.wait_for(client, INVALID_REASON, within=SLOW)
    events.clear(client)
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS, "--heartbeat-seconds=10") as reporter:
        again = events.wait_for(client, INVALID_REASON, within=SLOW)
        assert again.uid != written.uid
        assert (again.name, again.message) == (written.name, written.message)
        assert _episode(again) == _episode(written)
        (running,) = until_phases(client, ACTIVE.format(0), within=SLOW)
        assert running == first, "nothing of the object is written"
        inference_sets.repair(client, 0)
        (over,) = until_phases(client, CLEARED.format(0), within=SLOW)
        assert over["metadata"]["uid"] == first["metadata"]["uid"]
        assert over["spec"] == first["spec"]
        assert over["status"]["occurrences"] == 1
        inference_sets.wait_for(client, inference_sets.READY_REASON, 0, within=SLOW)
        assert _created(reporter) == 0
    assert phases(client) == [CLEARED.format(0)]
    assert len(events.reporter_events(client, INVALID_REASON)) == 1


def test_reporter_that_comes_back_within_the_hour_continues_the_object(
    plane: ControlPlane,
) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS):
        inference_sets.misconfigure(client, 0)
        (first,) = until_phases(client, ACTIVE.format(0), within=SLOW)
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS) as reporter:
        until(
            lambda: reporter.metric("store_objects", phase="Active") == 1,
            within=SLOW,
            what="the object is seen",
        )
        inference_sets.repair(client, 0)
        (over,) = until_phases(client, CLEARED.format(0), within=SLOW)
        assert over["metadata"]["uid"] == first["metadata"]["uid"]


def test_two_leaders_at_once_keep_one_object(plane: ControlPlane) -> None:
    """Neither asks for the Lease, so both write until the end."""
    client = plane.client
    flags = (*SHORT_FLAGS, *FLAGS, "--leader-elect=false")
    with ReporterProcess(plane, *flags, name="one") as one:
        inference_sets.misconfigure(client, 0)
        (first,) = until_phases(client, ACTIVE.format(0), within=SLOW)
        with ReporterProcess(plane, *flags, name="two") as two:
            until(
                lambda: two.metric("store_objects", phase="Active") == 1,
                within=SLOW,
                what="the other one sees the object",
            )
            inference_sets.repair(client, 0)
            (over,) = until_phases(client, CLEARED.format(0), within=SLOW)
            assert over["metadata"]["uid"] == first["metadata"]["uid"]
            until(
                lambda: all(
                    each.metric("store_objects", phase="Resolved") == 1 for each in (one, two)
                ),
                within=SLOW,
                what="both see its end",
            )
            assert _created(one, two) == 1
            assert "Traceback" not in one.log() + two.log()
    assert len(events.reporter_events(client, INVALID_REASON)) == 1


def _episode(event: events.Event) -> str:
    return str(event.raw["metadata"]["labels"][EPISODE_LABEL])


def _created(*reporters: ReporterProcess) -> float:
    return sum(each.metric("store_writes_total", result="created") for each in reporters)
