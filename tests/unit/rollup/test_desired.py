"""Moments at which a status is written, and the patch that brings it."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.model.times import parse_zoned_time
from reporter.rollup.desired import (
    GENERATION_SETTLE,
    DesiredStatus,
    change_due_at,
    evaluation_interval,
    is_outdated,
    make_desired,
    make_patch,
    merge_patch,
    renewal_due_at,
    share_values,
)
from reporter.rollup.records import RollUp
from reporter.stories.format import apply_merge_patch
from tests.support import kstatus
from tests.support.builders import NOON
from tests.support.rollups import BAD_IMAGE, view_of
from tests.support.status_objects import a_status_object, as_json, condition, stack_without_pages


SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


class Stack:
    """A stack whose objects are looked at again and again."""

    def __init__(self, change=None, **how) -> None:
        self.replay = stack_without_pages(change, **how)
        self.grace = self.replay.rollup_rules.grace

    def look(
        self, found, before: DesiredStatus | None = None, *, after: timedelta
    ) -> DesiredStatus:
        """Look at an object so long after noon."""
        memory = before.memory if before is not None else None
        return make_desired(found, view_of(self.replay), "kaito-system", memory, now=NOON + after)

    def settled(self, found) -> dict:
        """Return the status once the generation has settled, and all grace is over."""
        first = self.look(found, after=timedelta(0))
        later = self.look(found, first, after=GENERATION_SETTLE)
        desired = self.look(found, later, after=MINUTE * 10).status
        assert desired is not None
        return desired


def test_a_new_generation_waits_for_what_is_applied_with_it():
    stack, new = Stack(), a_status_object()
    first = stack.look(new, after=timedelta(0))
    assert (first.status, first.deadline) == (None, NOON + GENERATION_SETTLE)
    assert stack.look(new, first, after=GENERATION_SETTLE - SECOND).status is None
    desired = stack.look(new, first, after=GENERATION_SETTLE).status
    assert desired is not None
    assert kstatus.compute(as_json(new, desired)) == kstatus.CURRENT
    seen = a_status_object(status=desired)
    assert stack.look(seen, after=timedelta(0)).status == desired, "another leader need not wait"
    raised = a_status_object(generation=2, status=desired)
    assert stack.look(raised, first, after=MINUTE).status is None
    assert kstatus.compute(as_json(raised, desired)) == kstatus.IN_PROGRESS


def test_an_object_made_anew_under_its_name_is_another_one():
    stack, old = Stack(), a_status_object()
    first = stack.look(old, after=timedelta(0))
    new = a_status_object()
    other = first._replace(memory=first.memory._replace(uid="another"))
    assert stack.look(new, other, after=MINUTE).status is None


def test_what_is_missing_has_the_startup_grace():
    stack = Stack()
    found = a_status_object(inferenceSets=["phi"])
    first = stack.look(found, after=timedelta(0))
    second = stack.look(found, first, after=GENERATION_SETTLE)
    assert (second.status["state"], second.deadline) == (
        "InProgress",
        NOON + GENERATION_SETTLE + stack.grace,
    )
    assert condition(second.status, "Ready")["reason"] == "NotFound"
    assert kstatus.compute(as_json(found, second.status)) == kstatus.IN_PROGRESS
    third = stack.look(found, second, after=GENERATION_SETTLE + stack.grace)
    assert (third.status["state"], third.deadline) == ("NotFound", None)
    assert condition(third.status, "Stalled")["reason"] == "NotFound"
    held = a_status_object(inferenceSets=["phi"], status=third.status)
    assert stack.look(held, after=timedelta(0)).status == third.status, "the next leader agrees"


def test_what_was_missing_and_came_starts_again_when_it_goes():
    stack, found = Stack(), a_status_object(inferenceSets=["phi"])
    first = stack.look(found, after=timedelta(0))
    second = stack.look(found, first, after=GENERATION_SETTLE)
    there = a_status_object(inferenceSets=["qwen"])
    third = stack.look(there, second, after=MINUTE)
    assert third.memory.missing_since is None


def test_invalid_scope_needs_no_grace():
    found = a_status_object(scope="Cluster")
    desired = Stack().settled(found)
    assert condition(desired, "Stalled")["reason"] == "InvalidScope"
    assert kstatus.compute(as_json(found, desired)) == kstatus.FAILED


def test_a_fault_of_the_roll_up_is_unknown_and_not_silence():
    stack = Stack()
    stack.replay.rollup = RollUp(revision=9)
    desired = stack.settled(a_status_object())
    assert desired["state"] == "Unknown"
    assert condition(desired, "Ready")["status"] == "Unknown"
    release = a_status_object("kaito-system", scope="Cluster")
    assert stack.settled(release)["state"] == "Unknown"


def test_what_cannot_be_listed_for_long_has_the_pattern_as_its_reason():
    """Nothing of the roll-up changes then: the object is looked at again at that time."""
    stack = Stack(watch={"inferencesets": "lost"}, until="2m")
    named = a_status_object(inferenceSets=["phi"])
    first = stack.look(named, after=timedelta(0))
    second = stack.look(named, first, after=MINUTE * 5)
    assert condition(second.status, "Ready")["reason"] == "NotListed"
    since, later = parse_zoned_time(second.status["blocking"]["since"]), second.deadline
    assert since is not None
    assert later == since + MINUTE * 30 + SECOND
    stack.replay.now = later
    third = stack.look(named, second, after=later - NOON)
    assert condition(third.status, "Ready")["reason"] == "NoTerminalStateReported"
    assert (third.status["blocking"]["actionability"], third.deadline) == ("platform", None)


def test_the_status_has_what_the_design_names():
    desired = Stack(BAD_IMAGE).settled(a_status_object(package={"name": "shop", "revision": "v3"}))
    assert {key for key, value in desired.items() if value} == {
        "observedGeneration",
        "conditions",
        "state",
        "blocking",
        "replicas",
        "inferenceSets",
        "packageRevision",
    }
    blocking = desired["blocking"]
    assert blocking["reason"] == "inferencesetModelPodsNotReady"
    assert blocking["remedy"]
    assert blocking["since"].endswith("Z")
    assert "inStateSeconds" not in blocking


def test_the_status_shows_who_silenced_what_blocks_and_until_when():
    silence = {"namespace": "team-m", "reasons": ["all"], "until": "2026-05-01T15:00:00Z"}
    silence |= {"by": "alice", "why": "the weights move"}
    desired = Stack(BAD_IMAGE, silences=[silence]).settled(a_status_object())
    assert desired["state"] == "Failed"
    assert desired["blocking"]["silenced"] == {
        "until": "2026-05-01T15:00:00Z",
        "by": "alice",
        "why": "the weights move",
        "origin": "silences.yaml:2",
    }


def test_a_status_that_is_there_is_not_outdated_whenever_it_was_evaluated():
    desired = Stack(BAD_IMAGE).settled(a_status_object())
    held = a_status_object(status={**desired, "lastEvaluationTime": "2026-01-01T00:00:00Z"})
    assert not is_outdated(held, desired)
    assert is_outdated(a_status_object(), desired)
    assert is_outdated(a_status_object(status={**desired, "other": 1}), desired)


def a_failed_status(*, message: str, code: str = "Crash") -> dict:
    return {
        "observedGeneration": 1,
        "state": "Failed",
        "conditions": [{"type": "Ready", "status": "False", "message": message}],
        "blocking": {"code": code, "message": message},
    }


@pytest.mark.parametrize(
    ("desired", "due"),
    [
        (a_failed_status(message="5 restarts"), NOON - 20 * SECOND + MINUTE),
        (a_failed_status(message="5 restarts", code="Image"), NOON),
        ({"observedGeneration": 1, "state": "Current", "conditions": []}, NOON),
    ],
)
def test_a_change_of_texts_alone_is_written_once_a_minute(desired, due):
    last = (NOON - 20 * SECOND).isoformat()
    held = {**a_failed_status(message="4 restarts"), "lastEvaluationTime": last}
    assert change_due_at(a_status_object(status=held), desired, now=NOON) == due
    del held["lastEvaluationTime"]
    assert change_due_at(a_status_object(status=held), desired, now=NOON) == NOON


# ---------------------------------------------------------------- renewals


@pytest.mark.parametrize(
    ("objects", "seconds"), [(0, 300), (1, 300), (600, 300), (601, 300.5), (6000, 3000)]
)
def test_beyond_600_objects_times_are_renewed_less_often(objects, seconds):
    assert evaluation_interval(objects) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("last", "evaluated", "due"),
    [
        (NOON - MINUTE, NOON, NOON + 4 * MINUTE),
        (NOON - 7 * MINUTE, NOON, NOON - 2 * MINUTE),
        (None, NOON, NOON),
        (NOON + timedelta(days=9), NOON, NOON),
        # Without a newer evaluation there is nothing to renew.
        (NOON - 7 * MINUTE, NOON - 7 * MINUTE, NOON + 30 * SECOND),
        (NOON - 7 * MINUTE, None, NOON + 30 * SECOND),
    ],
)
def test_the_renewal_of_the_time_of_evaluation_is_due_every_five_minutes(last, evaluated, due):
    status = {} if last is None else {"lastEvaluationTime": last.isoformat()}
    found = a_status_object(status=status)
    interval = evaluation_interval(1)
    assert renewal_due_at(found, interval, evaluated_at=evaluated, now=NOON) == due


# ---------------------------------------------------------------- patches


def test_a_patch_is_for_one_version_of_the_object_and_names_what_changes():
    desired = {"observedGeneration": 1, "state": "Current", "conditions": []}
    found = a_status_object(status={**desired, "state": "Failed", "blocking": {"code": "x"}})
    assert make_patch(found, desired, evaluated_at=NOON + timedelta(microseconds=5)) == {
        "metadata": {"resourceVersion": "7"},
        "status": {
            "blocking": None,
            "state": "Current",
            "lastEvaluationTime": NOON.isoformat().replace("+00:00", "Z"),
            "expirationTime": (NOON + 15 * MINUTE).isoformat().replace("+00:00", "Z"),
        },
    }


def test_a_status_expires_after_three_renewals_however_many_objects_there_are():
    desired = {"observedGeneration": 1, "state": "Current", "conditions": []}
    found = a_status_object(status={**desired, "expirationTime": "2026-01-01T00:00:00Z"})
    assert not is_outdated(found, desired), "no write for its sake alone"
    interval = evaluation_interval(6000)
    patch = make_patch(found, desired, evaluated_at=NOON, interval=interval)
    after = NOON + 150 * MINUTE
    assert patch["status"]["expirationTime"] == after.isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(("stands", "minutes"), [(5, 15), (20, 45), (60, 125)])
def test_a_status_does_not_expire_while_it_is_right_without_another_evaluation(stands, minutes):
    desired = {"observedGeneration": 1, "state": "Current", "conditions": []}
    found = a_status_object(status=desired)
    patch = make_patch(found, desired, evaluated_at=NOON, stands=stands * MINUTE)
    after = NOON + minutes * MINUTE
    assert patch["status"]["expirationTime"] == after.isoformat().replace("+00:00", "Z")


def test_a_status_is_renewed_before_it_expires_however_many_objects_came_since():
    last, expires = NOON - 7 * MINUTE, NOON + 8 * MINUTE
    status = {"lastEvaluationTime": last.isoformat(), "expirationTime": expires.isoformat()}
    found, interval = a_status_object(status=status), evaluation_interval(6000)
    assert renewal_due_at(found, interval, evaluated_at=NOON, now=NOON) == NOON + 3 * MINUTE


def test_without_an_evaluation_the_time_stays():
    desired = {"observedGeneration": 1, "state": "Unknown", "conditions": []}
    found = a_status_object(status={**desired, "lastEvaluationTime": "2026-01-01T00:00:00Z"})
    assert make_patch(found, desired, evaluated_at=None)["status"] == {}


KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.recursive(
    st.integers() | st.text(max_size=2) | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=3)


@given(OBJECTS, OBJECTS)
def test_a_merge_patch_makes_one_object_of_the_other(before, after):
    patch = merge_patch(before, after)
    assert apply_merge_patch(before, patch) == after
    assert (patch == {}) == (before == after)


def test_a_status_shares_the_values_that_the_object_has():
    held = {
        "state": "Current",
        "conditions": [{"type": "Ready", "status": "True"}],
        "replicas": {},
    }
    status = {
        "state": "Failed",
        "conditions": [{"type": "Ready", "status": "True"}],
        "blocking": None,
    }
    shared = share_values(DesiredStatus(None, status), held).status
    assert shared == status
    assert shared["conditions"] is held["conditions"]
    assert share_values(DesiredStatus(None, None), held).status is None
