"""Admission that refuses Events for a while, fails, or changes them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from e2e.controlplane import Client, ControlPlane, Json, until
from e2e.faults.support.variants import variants
from e2e.support import events
from e2e.support.admission_webhook import mutating_webhook, refusing_webhook
from e2e.support.event_denial import denied_events
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON, READY_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS


BACK_OFF = 60
"""Seconds that a refused write waits at the longest."""

Admission = Callable[[Client, Path], AbstractContextManager[object]]
FIELD = {"reason": "FieldValueInvalid", "field": "message", "message": "no"}
REFUSALS: dict[str, Admission] = {
    "policy with its default reason": lambda client, _: denied_events(
        client, "no", denial="Invalid"
    ),
    "webhook without a code": lambda client, folder: refusing_webhook(client, folder, None),
    "webhook that answers like validation": lambda client, folder: refusing_webhook(
        client,
        folder,
        {"code": 422, "reason": "Invalid", "message": "no", "details": {"causes": [FIELD]}},
    ),
    "webhook that answers like a missing Event": lambda client, folder: refusing_webhook(
        client, folder, {"code": 404, "reason": "NotFound", "message": "no"}
    ),
}
STRIP: list[Json] = [
    {"op": "remove", "path": "/metadata/labels"},
    {"op": "remove", "path": "/metadata/annotations"},
    {"op": "replace", "path": "/source/component", "value": "relay"},
    {"op": "replace", "path": "/reportingComponent", "value": "relay"},
]


@pytest.fixture(scope="module")
def bare(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with inference_sets.lent_plane(small_plane, 2) as plane:
        yield plane


@pytest.fixture
def plane(bare: ControlPlane) -> Iterator[ControlPlane]:
    yield inference_sets.healthy_models(bare)
    for each in bare.client.list(events.PATH):
        bare.client.delete(f"{events.PATH}/{each['metadata']['name']}")


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "refusal", variants(REFUSALS, "webhook that answers like a missing Event")
)
def test_event_that_admission_refuses_for_a_while_arrives_afterwards(
    plane: ControlPlane, tmp_path: Path, refusal: Admission
) -> None:
    client, lasting, cured = plane.client, 0, 1
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        with refusal(client, tmp_path):
            for number in (lasting, cured):
                inference_sets.misconfigure(client, number)
            until(
                lambda: reporter.metric("event_writes_total", result="refused") > 3,
                within=60,
                what="both were refused more than once",
            )
            inference_sets.repair(client, cured)
            inference_sets.wait_state(reporter, cured, "clear", within=SETTLE + PROMPT_TIMEOUT)
        inference_sets.wait_for(client, INVALID_REASON, lasting, within=BACK_OFF + PROMPT_TIMEOUT)
        inference_sets.repair(client, lasting)
        inference_sets.wait_for(client, READY_REASON, lasting, within=SETTLE + PROMPT_TIMEOUT)
        written = [(INVALID_REASON, "model-0"), (READY_REASON, "model-0")]
        assert sorted(inference_sets.model_events(client)) == sorted(written)
        assert len(reporter.lines("was refused")) == 1
        assert reporter.metric("event_writes_total", result="dropped") == 0


def test_nothing_is_ready_again_that_a_broken_webhook_kept_from_being_announced(
    plane: ControlPlane, tmp_path: Path
) -> None:
    client, broken, other = plane.client, 0, 1
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        with refusing_webhook(client, tmp_path, None) as webhook:
            webhook.stop()
            inference_sets.misconfigure(client, broken)
            until(
                lambda: reporter.lines("was refused", "failed calling webhook"),
                within=PROMPT_TIMEOUT,
                what="the webhook cannot be called",
            )
            inference_sets.repair(client, broken)
            inference_sets.wait_state(reporter, broken, "clear", within=SETTLE + PROMPT_TIMEOUT)
        inference_sets.misconfigure(client, other)
        inference_sets.wait_for(client, INVALID_REASON, other, within=PROMPT_TIMEOUT)
        inference_sets.repair(client, other)
        inference_sets.wait_for(client, READY_REASON, other, within=SETTLE + PROMPT_TIMEOUT)
        written = [(INVALID_REASON, "model-1"), (READY_REASON, "model-1")]
        assert sorted(inference_sets.model_events(client)) == sorted(written)


# ---------------------------------------------------------------- changed


def test_running_episode_whose_event_was_stripped_is_continued_after_a_restart(
    plane: ControlPlane, tmp_path: Path
) -> None:
    client, lasting, cured = plane.client, 0, 1
    with mutating_webhook(client, tmp_path, STRIP):
        with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
            for number in (lasting, cured):
                inference_sets.misconfigure(client, number)
            until(lambda: len(_stripped(client)) == 2, within=PROMPT_TIMEOUT, what="two Events")
            before = _stripped(client)
        assert not any(each["metadata"].get("annotations") for each in before)
        assert {each["source"]["component"] for each in before} == {"relay"}
        inference_sets.repair(client, cured)
        with reporter:
            until(lambda: len(_stripped(client)) > 2, within=SETTLE + PROMPT_TIMEOUT, what="Ready")
            written = [(each["reason"], each["count"]) for each in _stripped(client)]
            assert sorted(written) == [(READY_REASON, 1), (INVALID_REASON, 1), (INVALID_REASON, 1)]
            assert {each["metadata"]["resourceVersion"] for each in before} <= {
                each["metadata"]["resourceVersion"] for each in _stripped(client)
            }
            inference_sets.repair(client, lasting)
            until(lambda: len(_stripped(client)) > 3, within=SETTLE + PROMPT_TIMEOUT, what="Ready")


def _stripped(client: Client) -> list[Json]:
    """Return the Events of models, by their reason alone."""
    found = client.list(events.PATH)
    return [each for each in found if each["reason"] in {INVALID_REASON, READY_REASON}]
