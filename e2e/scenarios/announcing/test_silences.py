"""Silences in a mounted file and on InferenceSets: begun, ended, taken back and malformed."""

from datetime import timedelta

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support import events
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.reporter_waits import until_logged
from e2e.support.silences import (
    HOUR,
    SLOW,
    annotate,
    entry,
    in_future,
    render,
    take_back,
    until_silenced,
)
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS
from tests.support.mounted_file import MountedFile


pytestmark = pytest.mark.controlplane


def until_counted(reporter: ReporterProcess, state: str, number: int = 1) -> None:
    until(
        lambda: reporter.metric("silences", state=state) == number,
        within=SLOW,
        what=f"{number} silences are {state}",
    )


def test_silence_in_a_mounted_file_begins_and_ends_without_a_restart(
    plane: ControlPlane, mounted: MountedFile
) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, f"--silence-file={mounted.path}") as reporter:
        mounted.write(render(entry(0, HOUR)))
        until_counted(reporter, "active")
        inference_sets.misconfigure(client, 0)
        inference_sets.misconfigure(client, 1)
        until_silenced(reporter, 0)
        inference_sets.wait_for(client, INVALID_REASON, 1, within=PROMPT_TIMEOUT)
        assert len(events.reporter_events(client, INVALID_REASON)) == 1
        (namespace,) = reporter.status_v1(f"namespaces/{inference_sets.name(0)}")["namespaces"]
        assert namespace["inferenceSets"][0]["blocking"]["silenced"]["by"] == "alice"
        mounted.write(render(entry(0, timedelta(seconds=8))))
        inference_sets.wait_for(client, INVALID_REASON, 0, within=SLOW)
        inference_sets.wait_state(reporter, 0, "announced", within=PROMPT_TIMEOUT)
        assert len(events.reporter_events(client, INVALID_REASON)) == 2
        until_counted(reporter, "expired")
        until_logged(reporter, "silences nothing, expired")


def test_silence_of_the_start_is_in_effect_before_the_first_event(
    plane: ControlPlane, mounted: MountedFile
) -> None:
    client = plane.client
    mounted.write(render(entry(0, HOUR)))
    annotate(client, 1, until=in_future(HOUR))
    for number in range(3):
        inference_sets.misconfigure(client, number)
    with ReporterProcess(plane, *SHORT_FLAGS, f"--silence-file={mounted.path}") as reporter:
        inference_sets.wait_for(client, INVALID_REASON, 2, within=PROMPT_TIMEOUT)
        until_silenced(reporter, 0)
        until_silenced(reporter, 1)
        assert len(events.reporter_events(client, INVALID_REASON)) == 1


def test_silence_that_is_taken_back_ends_at_once(plane: ControlPlane) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, "--mirror-events") as reporter:
        annotate(client, 0, until=in_future(HOUR))
        inference_sets.misconfigure(client, 0)
        until_silenced(reporter, 0)
        assert (
            reporter.metric(
                "reason_state",
                state="silenced",
                reason=INVALID_REASON,
                workload_namespace="team-0",
            )
            == 1
        )
        take_back(client, 0)
        event = inference_sets.wait_for(client, INVALID_REASON, 0, within=PROMPT_TIMEOUT)
        assert event.count == 1
        until(
            lambda: reporter.metric("mirror_writes_total", result="created") == 1,
            within=SLOW,
            what="it is written beside the InferenceSet as well, and was not before",
        )
        until_logged(reporter, "(InferenceSet team-0/model-0): removed")


def test_file_that_breaks_or_goes_silences_nothing_until_it_is_there_again(
    plane: ControlPlane, mounted: MountedFile
) -> None:
    client = plane.client
    mounted.write(render(entry(0, HOUR), entry(1, HOUR)))
    with ReporterProcess(plane, *SHORT_FLAGS, f"--silence-file={mounted.path}") as reporter:
        inference_sets.misconfigure(client, 0)
        until_silenced(reporter, 0)
        mounted.write(render(entry(0, HOUR))[:-2])
        inference_sets.wait_for(client, INVALID_REASON, 0, within=SLOW)
        until_counted(reporter, "malformed")
        assert "is not YAML" in reporter.status()["silenceFile"]["problem"]
        until_logged(reporter, "WARNING", f"({mounted.path}) silences nothing, malformed")
        mounted.write(render(entry(0, HOUR), entry(1, HOUR)))
        until_silenced(reporter, 0)
        inference_sets.misconfigure(client, 1)
        until_silenced(reporter, 1)
        mounted.remove()
        inference_sets.wait_for(client, INVALID_REASON, 1, within=SLOW)
        assert "does not exist" in reporter.status()["silenceFile"]["problem"]
        until_logged(reporter, "WARNING", "is gone, and silences nothing")


@pytest.mark.parametrize(
    ("until_text", "reasons", "problem"),
    [
        ("tomorrow", "all", "`until` is `tomorrow`"),
        ("2099-01-01", "inferencesetScalingMisconfigure", f'did you mean "{INVALID_REASON}"'),
    ],
    ids=["time", "reason"],
)
def test_malformed_silence_silences_nothing_and_is_shown(
    plane: ControlPlane, until_text: str, reasons: str, problem: str
) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        annotate(client, 0, until=until_text, reasons=reasons)
        until_counted(reporter, "malformed")
        (shown,) = reporter.status()["silences"]
        assert problem in shown["problem"]
        until_logged(reporter, "WARNING", "silences nothing, malformed")
        inference_sets.misconfigure(client, 0)
        inference_sets.wait_for(client, INVALID_REASON, 0, within=PROMPT_TIMEOUT)


def test_inapplicable_silence_is_shown(plane: ControlPlane, mounted: MountedFile) -> None:
    nowhere = {**entry(0, HOUR), "inferenceset": "model-x"}
    mounted.write(render(nowhere, {**entry(0, HOUR), "namespace": "team-x"}))
    with ReporterProcess(plane, *SHORT_FLAGS, f"--silence-file={mounted.path}") as reporter:
        until_counted(reporter, "inapplicable", 2)
        problems = [each["problem"] for each in reporter.status()["silences"]]
        assert problems[0] == "there is no InferenceSet team-0/model-x that is evaluated"
        assert "team-x" in problems[1]
        until_logged(reporter, "WARNING", "silences nothing, inapplicable", times=2)
        assert len(reporter.lines("WARNING", "silences nothing, inapplicable")) == 2
