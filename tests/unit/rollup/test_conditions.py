"""The conditions of each state, and what kstatus makes of them."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from reporter.model.enums import Layer
from reporter.model.object_status import ObjectBlocking
from reporter.model.states import Actionability, Pattern, State
from reporter.rollup.answers import ObjectAnswer
from reporter.rollup.conditions import make_conditions
from tests.support import kstatus
from tests.support.status_objects import CRD, a_status_object, as_json, condition, statuses


NOW = datetime(2026, 3, 4, 5, 6, 7, 890, tzinfo=UTC)
BLOCKING = ObjectBlocking(
    reason="inferencesetModelPodsNotReady",
    code="ImagePull",
    layer=Layer.MODELDEPLOYMENT,
    message="no pod.",
    remedy="Name another image.",
    actionability=Actionability.USER,
)
OBJECT = a_status_object()

TABLE = [
    # state, Ready, Reconciling, Stalled, kstatus
    (State.CURRENT, "True", "False", "False", kstatus.CURRENT),
    (State.IN_PROGRESS, "False", "True", "False", kstatus.IN_PROGRESS),
    (State.TERMINATING, "False", "True", "False", kstatus.IN_PROGRESS),
    (State.UNKNOWN, "Unknown", "True", "False", kstatus.IN_PROGRESS),
    (State.FAILED, "False", "False", "True", kstatus.FAILED),
    (State.NOT_FOUND, "False", "False", "True", kstatus.FAILED),
]


def render(answer: ObjectAnswer, held=None, *, generation: int = 1, now: datetime = NOW) -> dict:
    """Return a status with these conditions, as JSON."""
    conditions = make_conditions(answer, held or {}, generation=generation, now=now)
    return {"observedGeneration": generation, "conditions": list(msgspec.to_builtins(conditions))}


def test_the_table_has_every_state():
    assert [row[0] for row in TABLE] == sorted(State, key=[row[0] for row in TABLE].index)


@pytest.mark.parametrize(("state", "ready", "reconciling", "stalled", "computed"), TABLE)
def test_each_state_has_its_conditions_and_kstatus_agrees(
    state, ready, reconciling, stalled, computed
):
    status = render(ObjectAnswer(state, available=True))
    assert statuses(status) == {
        "Ready": ready,
        "Reconciling": reconciling,
        "Stalled": stalled,
        "Available": "True",
        "Observed": "False" if state is State.UNKNOWN else "True",
    }
    assert kstatus.compute(as_json(OBJECT, status)) == computed


def test_kstatus_waits_for_the_reporter_and_for_the_newest_generation():
    schema = CRD["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    unseen = schema["properties"]["status"]["default"]
    assert kstatus.compute(as_json(OBJECT, unseen)) == kstatus.IN_PROGRESS
    assert kstatus.compute(as_json(OBJECT, {})) == kstatus.CURRENT, "hence the default"
    status = render(ObjectAnswer(State.CURRENT))
    raised = a_status_object(generation=2)
    assert kstatus.compute(as_json(raised, status)) == kstatus.IN_PROGRESS
    status = render(ObjectAnswer(State.CURRENT), status, generation=2)
    assert kstatus.compute(as_json(raised, status)) == kstatus.CURRENT


@pytest.mark.parametrize(
    ("available", "status", "reason"),
    [
        (True, "True", "Available"),
        (False, "False", "Unavailable"),
        (None, "Unknown", "Unknown"),
    ],
)
def test_available_is_an_answer_of_its_own(available, status, reason):
    found = condition(render(ObjectAnswer(State.FAILED, available)), "Available")
    assert (found["status"], found["reason"]) == (status, reason)


def test_what_blocks_is_reason_and_message():
    status = render(ObjectAnswer(State.FAILED, blocking=BLOCKING))
    for kind in ("Ready", "Stalled"):
        found = condition(status, kind)
        assert found["reason"] == "inferencesetModelPodsNotReady"
        assert found["message"] == "no pod. Name another image."
    assert condition(status, "Reconciling")["message"] == ""


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (State.UNKNOWN, "NoTerminalStateReported"),
        (State.IN_PROGRESS, "NoTerminalStateReported"),
        (State.FAILED, "inferencesetModelPodsNotReady"),
    ],
)
def test_beyond_its_window_the_pattern_is_the_reason_unless_a_writer_names_one(state, reason):
    stalled = msgspec.structs.replace(
        BLOCKING, stalled=True, pattern=Pattern.NO_TERMINAL_STATE_REPORTED
    )
    assert condition(render(ObjectAnswer(state, blocking=stalled)), "Ready")["reason"] == reason


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("Unavailable.Crash", "UnavailableCrash"),
        ("my-own reason", "myownreason"),
        ("a:", "a"),
        ("9", "Failed"),
        ("…", "Failed"),
    ],
)
def test_a_reason_is_one_that_the_api_allows(reason, shown):
    blocking = msgspec.structs.replace(BLOCKING, reason=reason)
    assert (
        condition(render(ObjectAnswer(State.FAILED, blocking=blocking)), "Ready")["reason"]
        == shown
    )


def test_the_time_changes_with_the_status_of_a_condition_alone():
    first = render(ObjectAnswer(State.CURRENT, available=True))
    later = NOW + timedelta(minutes=1)
    second = render(
        ObjectAnswer(State.FAILED, available=True, blocking=BLOCKING), first, now=later
    )
    times = {each["type"]: each["lastTransitionTime"] for each in second["conditions"]}
    assert times == {
        "Ready": "2026-03-04T05:07:07Z",
        "Reconciling": "2026-03-04T05:06:07Z",
        "Stalled": "2026-03-04T05:07:07Z",
        "Available": "2026-03-04T05:06:07Z",
        "Observed": "2026-03-04T05:06:07Z",
    }


@pytest.mark.parametrize(
    "held",
    [
        {"conditions": None},
        {"conditions": "none"},
        {"conditions": ["none", {"type": "Ready", "status": "True"}]},
        {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "soon"}]},
        {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": 7}]},
        {
            "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00"}
            ]
        },
    ],
)
def test_a_status_of_others_that_makes_no_sense_is_replaced(held):
    assert render(ObjectAnswer(State.CURRENT), held) == render(ObjectAnswer(State.CURRENT))


def test_what_is_unknown_below_it_is_a_condition_of_its_own():
    text = "Unknown below: 4 InferenceSets; missing permissions: list pods"
    status = render(ObjectAnswer(State.CURRENT, available=True, unobserved=text))
    assert kstatus.compute(as_json(OBJECT, status)) == kstatus.CURRENT
    found = condition(status, "Observed")
    assert (found["status"], found["reason"], found["message"]) == (
        "False",
        "PartlyUnknown",
        text,
    )


@pytest.mark.parametrize(
    ("state", "expected"), [(State.CURRENT, "Unknown"), (State.UNKNOWN, "False")]
)
def test_what_is_not_reported_is_not_observed(state, expected):
    status = render(ObjectAnswer(state, unobserved=None))
    assert condition(status, "Observed")["status"] == expected
