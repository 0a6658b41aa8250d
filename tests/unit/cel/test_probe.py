"""The verdicts of reasons in CEL: by object, by subject, and what makes them Unknown."""

import json
import re
from datetime import UTC, datetime

import pytest

from reporter.model.enums import TroubleKind
from reporter.model.observations import NotServed, NotSynced, WatchLost
from reporter.model.verdicts import Active, Clear, ObjectRef, Unknown
from tests.support.builders import HOUR, NOON
from tests.support.own_reasons import TEAM, a_reason, an_own_store, ready


REF = ObjectRef("inferenceservices.serving.kserve.io", TEAM, "chat")
CLUSTER_REASON = a_reason(
    reason="clusterServiceNotReady",
    layer="cluster",
    rank=95,
    message="{object} {state} ({count}).",
)


NESTED = json.loads("[" * 200 + "]" * 200)


def trouble(verdict):
    assert isinstance(verdict, Active), verdict
    (found,) = verdict.troubles
    return found


def test_an_object_that_is_current_is_clear_and_so_is_a_namespace_without_any():
    store = an_own_store()
    assert isinstance(store.verdict(), Clear)
    store.put(status=ready("True"))
    assert isinstance(store.verdict(), Clear)


def test_an_object_that_was_never_current_is_starting_and_one_that_was_is_lost():
    store = an_own_store()
    store.put(status=ready("False"))
    assert trouble(store.verdict()).kind is TroubleKind.STARTING
    store.put(status=ready("True"))
    store.put(status=ready("False"))
    found = trouble(store.verdict())
    assert (found.kind, found.cause.object, found.cause.code) == (
        TroubleKind.LOST,
        REF,
        "NotCurrent",
    )
    store.put(status=ready("False"), metadata={"uid": "another"})
    assert trouble(store.verdict()).kind is TroubleKind.STARTING


def test_an_object_that_is_deleted_and_made_anew_was_never_current():
    store = an_own_store()
    store.put(status=ready("True"))
    store.store.delete(store.kind(), TEAM, "chat")
    store.put(status=ready("False"))
    assert trouble(store.verdict()).kind is TroubleKind.STARTING


def test_failed_precedes_in_progress_and_both_precede_the_memory():
    store = an_own_store(a_reason(failed="object.spec.f", inProgress="object.spec.p"))
    store.put(status=ready("True"), spec={"f": False, "p": False})
    kinds = []
    for f, p in ((True, True), (False, True), (False, False)):
        store.put(status=ready("False"), spec={"f": f, "p": p})
        kinds.append(trouble(store.verdict()).kind)
    assert kinds == [TroubleKind.FAILED, TroubleKind.STARTING, TroubleKind.LOST]


def test_text_cause_and_time_come_from_the_object():
    condition = 'object.status.conditions.filter(c, c.type == "Ready")[0]'
    store = an_own_store(
        a_reason(
            text=f"{condition}.message", cause=f"{condition}.reason", since="object.status.at"
        )
    )
    status = ready("False", "No Quota!", "no GPUs left") | {"at": "2026-01-02T03:04:05Z"}
    store.put(status=status)
    found = trouble(store.verdict())
    assert (found.cause.code, found.foreign_text) == ("NoQuota", "no GPUs left")
    assert found.since == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert found.message_fields["object"] == "InferenceService team-a/chat"
    assert found.message_fields["count"] == "1 of 1"


DATED = 'object.status.conditions.all(c, c.lastTransitionTime != "")'
"""An expression that reads the times of conditions; others are not kept."""


@pytest.mark.parametrize(
    ("expressions", "unchanged"),
    [
        # A hard error without a time has lasted since the object last changed.
        ({"failed": DATED}, datetime(2026, 9, 2, 3, 4, 5, tzinfo=UTC)),
        ({"failed": DATED, "since": "object.status.at"}, None),
        # What only starts may have changed without a word of the object.
        ({"inProgress": "true"}, None),
    ],
)
def test_a_hard_error_without_a_time_has_the_newest_one_of_its_object(expressions, unchanged):
    store = an_own_store(a_reason(**expressions))
    condition = ready("False")["conditions"][0]
    conditions = [{**condition, "lastTransitionTime": "2026-09-02T03:04:05Z"}]
    store.put(status={"conditions": conditions, "at": "2026-01-01T00:00:00Z"})
    assert trouble(store.verdict()).unchanged_since == unchanged


def test_an_empty_time_is_none():
    store = an_own_store(a_reason(since="object.spec.detail"))
    store.put(status=ready("False"), spec={"detail": ""})
    verdict = store.verdict()
    assert trouble(verdict).since is None
    assert verdict.notes == ()


@pytest.mark.parametrize("key", ["text", "cause", "since"])
@pytest.mark.parametrize("value", [None, 3, [1]])
def test_detail_that_cannot_be_read_hides_no_trouble_and_is_noted(key, value):
    store = an_own_store(a_reason(**{key: "object.spec.detail"}))
    store.put(status=ready("False"), spec={} if value is None else {"detail": value})
    verdict = store.verdict()
    assert trouble(verdict).kind is TroubleKind.STARTING
    assert f": {key}" in verdict.notes[0]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param({}, 'Key not found in map : "status"', id="a missing field"),
        pytest.param({"status": {"conditions": "Ready"}}, "", id="a wrong type"),
        pytest.param({"status": {"conditions": None}}, "", id="null"),
        pytest.param(
            {"status": ready("True") | {"observedGeneration": 1}, "metadata": {"generation": 2}},
            "its status is older than its spec",
            id="an old status",
        ),
        pytest.param({"status": {"conditions": [{"type": "Ready"}]}}, "status", id="a part of it"),
        pytest.param(
            {"status": {"conditions": [{"type": "x" * 20_000, "status": ""}]}},
            "bytes, of which at most 16384 are read",
            id="too much of it",
        ),
        pytest.param(
            {"status": {"conditions": [{"type": "", "status": ""}] * 600}},
            "have more than 1000 values",
            id="too many parts of it",
        ),
        pytest.param(
            {"status": {"conditions": NESTED}},
            "are nested deeper than 64 levels",
            id="too deep a part of it",
        ),
    ],
)
def test_an_object_that_cannot_be_evaluated_is_unknown_with_the_place_of_the_expression(
    content, why
):
    store = an_own_store()
    store.put(**content)
    verdict = store.verdict()
    assert isinstance(verdict, Unknown), verdict
    assert verdict.why.startswith("InferenceService team-a/chat: ")
    assert why in verdict.why
    if "that its expressions name" not in verdict.why:
        assert "overlay.yaml:1: " in verdict.why


@pytest.mark.parametrize("key", ["current", "failed", "inProgress"])
@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("1 / object.spec.zero == 1", "divide by zero"),
        ("int(object.spec.text) == 1", ""),
        ("object.spec.list[7] == 1", "index error"),
        ("object.spec.text + object.spec.list == 1", "No matching overloads"),
        ("object.spec.text.matches(object.spec.pattern)", ""),
        ("timestamp(object.spec.text) < now", ""),
        ("object.spec.none.of.these", ""),
        ("[1].all(x, object.spec.absent)", "absent"),
    ],
)
def test_an_error_of_an_expression_is_unknown_with_its_place(key, expression, why):
    expressions = {"current": "false", "failed": "false", key: expression}
    store = an_own_store(a_reason(**expressions))
    store.put(spec={"zero": 0, "text": "x", "list": [1], "pattern": "(", "none": None})
    verdict = store.verdict()
    assert isinstance(verdict, Unknown), verdict
    place = rf"^InferenceService team-a/chat: /\S*/overlay\.yaml:1: {key}: ."
    assert re.search(place, verdict.why), verdict.why
    assert why.lower() in verdict.why.lower()


def test_a_value_that_is_no_boolean_is_unknown():
    store = an_own_store(a_reason(current="object.status.ready"))
    store.put(status={"ready": "yes"})
    assert "current is `yes`, and must be true or false" in store.verdict().why


@pytest.mark.parametrize("key", ["current", "since"])
def test_what_is_shown_of_a_wrong_value_has_no_secret_and_is_one_line(key):
    expressions = {"current": "false", key: "object.spec.value"}
    store = an_own_store(a_reason(**expressions))
    store.put(spec={"value": "a\x1b[31m\npassword=hunter22"})
    verdict = store.verdict()
    shown = verdict.why if isinstance(verdict, Unknown) else verdict.notes[0]
    assert "password=[removed]" in shown
    assert shown.isprintable()


def test_an_object_that_cannot_be_evaluated_hides_no_other():
    store = an_own_store()
    store.put(metadata={"name": "a"})
    store.put(metadata={"name": "b"}, status=ready("False"))
    verdict = store.verdict()
    assert [t.cause.object.name for t in verdict.troubles] == ["b"]
    assert [ref.name for ref in verdict.open_objects] == ["a"]


def test_a_runaway_expression_is_unknown_and_others_are_evaluated():
    loop = "object.spec.l.all(a, object.spec.l.all(b, object.spec.l.all(c, a + b + c >= 0)))"
    other = a_reason(reason="modelharnessOther", rank=81)
    store = an_own_store(a_reason(current=loop), other)
    store.put(spec={"l": [*range(900)]}, status=ready("False"))
    verdict = store.verdict()
    assert isinstance(verdict, Unknown)
    assert "budget" in verdict.why
    assert isinstance(store.verdict(reason="modelharnessOther"), Active)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (NotServed(), Clear),
        (NotSynced("may not list", refused=True), Unknown),
        (WatchLost(NOON - HOUR, "gone"), Unknown),
    ],
)
def test_a_kind_that_is_not_served_does_not_apply_and_one_that_cannot_be_read_is_unknown(
    state, expected
):
    store = an_own_store()
    store.put(status=ready("False"))
    store.store.set_watch_state(store.kind(), state)
    assert isinstance(store.verdict(), expected)


def test_objects_that_are_being_deleted_are_left_out():
    store = an_own_store()
    store.put(status=ready("False"), metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert isinstance(store.verdict(), Clear)
