"""Episodes that outlive the process that began them: restarts, stops and a second replica."""

import time
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane
from e2e.support import events
from e2e.support.elections import LEASE_SECONDS, STEADY_LEASE
from e2e.support.events import Event
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.reporter_process import LEASE, ReporterProcess
from e2e.support.reporter_waits import until_states, until_was
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS


BBR, READY = "clusterBBRNotReady", "clusterReady"
HEARTBEAT = 11
"""Seconds: the shortest that can be set, and a tenth more."""

BEATING = (*SHORT_FLAGS, "--heartbeat-seconds=10")
LONG_SETTLE = ("--startup-grace-seconds=2", "--settle-seconds=300")


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


def test_warning_is_renewed_while_it_lasts_and_never_again_after(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *BEATING) as reporter:
        first = _break(plane)
        again = events.wait_for(plane.client, BBR, within=HEARTBEAT + PROMPT_TIMEOUT, count=2)
        assert (again.uid, again.first) == (first.uid, first.first)
        assert again.last > first.last
        assert again.raw["series"]["count"] == again.count
        _mend(plane)
        until_was(reporter, BBR, "settling")
        last = _only(plane, BBR)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        time.sleep(HEARTBEAT + 1)  # by then a heartbeat that was not called off would have come
        assert _only(plane, BBR) == last
        assert _only(plane, READY).count == 1


def test_killed_process_goes_on_with_its_event(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *BEATING) as reporter:
        first = _break(plane)
        reporter.kill()
        last = _only(plane, BBR)
        reporter.start()
        again = events.wait_for(
            plane.client, BBR, within=HEARTBEAT + PROMPT_TIMEOUT, count=last.count + 1
        )
        assert (again.uid, again.first) == (first.uid, first.first)
        _mend(plane)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert events.reasons(plane.client) == [BBR, READY]


def test_trouble_that_ended_while_nobody_watched_gets_its_ready(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        first = _break(plane)
        reporter.kill()
        _mend(plane)
        reporter.start()
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert _only(plane, BBR) == first
        reporter.stop()
        reporter.start()
        _until_passed(reporter)
        assert events.reasons(plane.client) == [BBR, READY]


def test_recurrence_is_an_event_of_its_own(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS):
        first = _break(plane)
        _mend(plane)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        second = events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT, besides=[first])
        assert second.name != first.name
        assert (first.count, second.count) == (1, 1)


def test_return_within_the_settle_continues_the_episode(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *LONG_SETTLE) as reporter:
        first = _break(plane)
        _mend(plane)
        until_states(reporter, {BBR: "settling"})
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        until_states(reporter, {BBR: "announced"})
        assert [each.uid for each in events.reporter_events(plane.client)] == [first.uid]


# ---------------------------------------------------------------- leadership


def test_stop_ends_with_success_at_once_and_frees_the_lease(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        assert plane.client.get(LEASE)["spec"]["holderIdentity"].startswith("reporter_")
        assert reporter.stop(grace=PROMPT_TIMEOUT) == 0
        assert plane.client.get(LEASE)["spec"]["holderIdentity"] == ""
        assert "Traceback" not in reporter.log()


def test_second_replica_takes_over_and_goes_on_with_the_event(plane: ControlPlane) -> None:
    with (
        ReporterProcess(plane, *BEATING, *STEADY_LEASE, name="one") as one,
        ReporterProcess(plane, *BEATING, *STEADY_LEASE, name="two", follows=True) as two,
    ):
        first = _break(plane)
        assert first.raw["reportingInstance"] == "one"
        until_states(two, {BBR: "due"})
        assert one.stop() == 0
        last = _only(plane, BBR)
        two.until_leading()
        again = events.wait_for(
            plane.client, BBR, within=HEARTBEAT + PROMPT_TIMEOUT, count=last.count + 1
        )
        assert again.raw["reportingInstance"] == "two"
        assert (again.uid, again.first) == (first.uid, first.first)
        _mend(plane)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert events.reasons(plane.client) == [BBR, READY]


def test_replica_takes_over_from_a_killed_one_when_the_lease_runs_out(
    plane: ControlPlane,
) -> None:
    with (
        ReporterProcess(plane, *SHORT_FLAGS, *STEADY_LEASE, name="one") as one,
        ReporterProcess(plane, *SHORT_FLAGS, *STEADY_LEASE, name="two", follows=True) as two,
    ):
        one.kill()
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        event = events.wait_for(plane.client, BBR, within=LEASE_SECONDS + PROMPT_TIMEOUT)
        assert event.raw["reportingInstance"] == "two"
        assert two.metric("leader") == 1
        assert len(events.reporter_events(plane.client)) == 1


# ---------------------------------------------------------------- used above


def _break(plane: ControlPlane) -> Event:
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    return events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)


def _mend(plane: ControlPlane) -> None:
    components.scale(plane.client, BODY_BASED_ROUTER, 2)
    components.until_ready(plane.client, BODY_BASED_ROUTER)


def _only(plane: ControlPlane, reason: str) -> Event:
    found = events.reporter_events(plane.client, reason)
    assert len(found) == 1
    return found[0]


def _until_passed(reporter: ReporterProcess) -> None:
    """
    Wait until a new leader has read its Events back and the settle period after that is over.
    """
    time.sleep(SETTLE + 1)
    assert reporter.states() == {}
