"""Silences through restarts and changes of leader, and findings of other rank beside them."""

from datetime import timedelta

import pytest

from e2e.controlplane import ControlPlane
from e2e.support import events
from e2e.support.elections import STEADY_LEASE
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.changes import scaled_to_zero
from e2e.support.production_stack.components import BODY_BASED_ROUTER, KEDA_OPERATOR
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.reporter_waits import until_states
from e2e.support.silences import (
    HOUR,
    SLOW,
    annotate,
    in_future,
    render,
    take_back,
    until_silenced,
)
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS
from tests.support.mounted_file import MountedFile


pytestmark = pytest.mark.controlplane

BEATING = (*SHORT_FLAGS, "--heartbeat-seconds=10")
LEASE_RUNS_OUT = 60
BBR, KEDA = "clusterBBRNotReady", "clusterKedaNotReady"


def until_next_heartbeat(plane: ControlPlane, number: int, count: int) -> None:
    """
    Wait for a renewal of another finding, so that one of the silenced finding would have been due.
    """
    inference_sets.wait_for(plane.client, INVALID_REASON, number, within=SLOW, count=count)


def test_what_began_before_and_during_the_silence_survives_a_restart(plane: ControlPlane) -> None:
    client = plane.client
    with ReporterProcess(plane, *BEATING) as reporter:
        inference_sets.misconfigure(client, 0)
        first = inference_sets.wait_for(client, INVALID_REASON, 0, within=PROMPT_TIMEOUT)
        for number in (0, 1):
            annotate(client, number, until=in_future(HOUR))
        inference_sets.misconfigure(client, 1)
        until_silenced(reporter, 0)
        until_silenced(reporter, 1)
        (written,) = events.reporter_events(client, INVALID_REASON)
        reporter.kill()
        reporter.start()
        until_silenced(reporter, 0)
        until_silenced(reporter, 1)
        inference_sets.misconfigure(client, 2)
        until_next_heartbeat(plane, 2, 3)
        assert written in events.reporter_events(client, INVALID_REASON)
        for number in (0, 1):
            take_back(client, number)
        again = inference_sets.wait_for(
            client, INVALID_REASON, 0, within=PROMPT_TIMEOUT, count=written.count + 1
        )
        assert (again.uid, again.first) == (first.uid, first.first)
        inference_sets.wait_for(client, INVALID_REASON, 1, within=PROMPT_TIMEOUT)
        assert len(events.reporter_events(client, INVALID_REASON)) == 3


def test_next_leader_announces_what_lasts_once_when_the_silence_ends(plane: ControlPlane) -> None:
    client = plane.client
    with (
        ReporterProcess(plane, *BEATING, *STEADY_LEASE, name="one") as one,
        ReporterProcess(plane, *BEATING, *STEADY_LEASE, name="two", follows=True) as two,
    ):
        annotate(client, 0, until=in_future(HOUR))
        inference_sets.misconfigure(client, 0)
        until_silenced(one, 0)
        until_silenced(two, 0)
        one.kill()
        two.until_leading(within=LEASE_RUNS_OUT)
        until_silenced(two, 0)
        annotate(client, 0, until=in_future(timedelta(seconds=5)))
        event = inference_sets.wait_for(client, INVALID_REASON, 0, within=SLOW)
        assert event.raw["reportingInstance"] == "two"
        until_next_heartbeat(plane, 0, 2)
        assert len(events.reporter_events(client)) == 1


def test_recovery_of_what_was_announced_before_the_silence_passes_after_a_restart(
    plane: ControlPlane,
) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        inference_sets.misconfigure(client, 0)
        inference_sets.wait_for(client, INVALID_REASON, 0, within=PROMPT_TIMEOUT)
        annotate(client, 0, until=in_future(HOUR), reasons="all")
        until_silenced(reporter, 0)
        reporter.stop()
        reporter.start()
        until_silenced(reporter, 0)
        inference_sets.repair(client, 0)
        inference_sets.wait_for(
            client, inference_sets.READY_REASON, 0, within=SETTLE + PROMPT_TIMEOUT
        )
        assert len(events.reporter_events(client, INVALID_REASON)) == 1


def test_silence_of_one_reason_hides_no_other_of_the_same_subject(
    plane: ControlPlane, mounted: MountedFile
) -> None:
    client = plane.client
    mounted.write(render({"reasons": [BBR], "until": in_future(HOUR)}))
    with (
        ReporterProcess(plane, *SHORT_FLAGS, f"--silence-file={mounted.path}") as reporter,
        scaled_to_zero(client, BODY_BASED_ROUTER),
        scaled_to_zero(client, KEDA_OPERATOR),
    ):
        event = events.wait_for(client, KEDA, within=PROMPT_TIMEOUT, containing=f"(also: {BBR})")
        assert event.count <= 2
        until_states(reporter, {BBR: "silenced", KEDA: "announced"})
        mounted.write(render())
        events.wait_for(client, BBR, within=SLOW, containing=f"(also: {KEDA})")
        until_states(reporter, {BBR: "announced", KEDA: "outranked"})
        assert len(events.reporter_events(client)) == 2
