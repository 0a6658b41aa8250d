"""Expressions that look other objects up, or read the time and their parameters."""

import pytest

from reporter.model.enums import TroubleKind
from reporter.model.observations import NotServed, NotSynced
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Clear, Unknown
from tests.support.builders import NOON
from tests.support.own_reasons import HARNESS, a_reason, an_own_store


SETTING = {"kind": "Setting", "group": "example.com", "resource": "settings"}
LOOKUP = 'lookup("Setting", object.metadata.namespace, object.spec.setting)'


@pytest.fixture
def store():
    found = an_own_store(a_reason(current=f"{LOOKUP}.spec.valid"), kinds=[SETTING])
    found.put(spec={"setting": "fast"})
    return found


def test_an_object_that_is_looked_up_decides(store):
    store.put("Setting", metadata={"name": "fast"}, spec={"valid": True, "other": 1})
    assert isinstance(store.verdict(), Clear)
    store.put("Setting", metadata={"name": "fast"}, spec={"valid": False})
    assert isinstance(store.verdict(), Active)


def test_a_changed_object_dirties_the_subjects_that_may_have_looked_it_up(store):
    store.store.take_dirty()
    store.put("Setting", metadata={"name": "fast"}, spec={"valid": True})
    assert Subject(HARNESS.layer) in store.store.take_dirty()


def test_a_missing_object_is_null(store):
    assert isinstance(store.verdict(), Unknown)
    exists = an_own_store(a_reason(current=f"{LOOKUP} != null"), kinds=[SETTING])
    exists.put(spec={"setting": "fast"})
    assert isinstance(exists.verdict(), Active)
    exists.put("Setting", metadata={"name": "fast"})
    assert isinstance(exists.verdict(), Clear)
    exists.store.set_watch_state(exists.kind("Setting"), NotServed())
    assert isinstance(exists.verdict(), Active)


def test_a_kind_that_may_not_be_listed_is_unknown_for_those_who_look_it_up():
    current = f"object.spec.free || {LOOKUP} != null"
    store = an_own_store(a_reason(current=current), kinds=[SETTING])
    store.store.set_watch_state(store.kind("Setting"), NotSynced("may not list", refused=True))
    store.put(spec={"free": True})
    assert isinstance(store.verdict(), Clear)
    store.put(spec={"free": False, "setting": "fast"})
    assert isinstance(store.verdict(), Unknown)


def test_a_lookup_of_an_object_that_cannot_be_decoded_is_unknown(store):
    store.put("Setting", metadata={"name": "fast"}, spec={"valid": True})
    store.store.mark_undecodable(store.kind("Setting"), "team-a", "fast")
    assert isinstance(store.verdict(), Unknown)


def test_what_one_object_looks_up_and_cannot_be_read_hides_no_other(store):
    store.put(spec={"setting": "slow"}, metadata={"name": "other"})
    for name in ("fast", "slow"):
        store.put("Setting", metadata={"name": name}, spec={"valid": False})
    store.store.mark_undecodable(store.kind("Setting"), "team-a", "fast")
    verdict = store.verdict()
    assert isinstance(verdict, Active), verdict
    assert [each.cause.object.name for each in verdict.troubles] == ["other"]
    assert [each.name for each in verdict.open_objects] == ["chat"]


def test_lookups_without_end_are_unknown():
    rounds = 'object.spec.l.all(i, object.spec.l.all(j, lookup("Setting", "team-a", i) != null))'
    store = an_own_store(a_reason(current=rounds), kinds=[SETTING])
    store.put("Setting", metadata={"name": "fast"})
    store.put(spec={"l": ["fast"] * 30})
    assert isinstance(store.verdict(), Clear)
    store.put(spec={"l": ["fast"] * 40})
    assert "more than 1000 objects are looked up" in store.verdict().why


@pytest.mark.parametrize(
    "other",
    [
        {"failed": 'now - timestamp(object.status.seen) > duration("2h")'},
        {"text": f"{LOOKUP}.spec.text"},
    ],
)
def test_a_current_of_the_object_alone_is_remembered_whatever_others_read(other):
    reason = a_reason(current="object.?status.?ready.orValue(false)", **other)
    store = an_own_store(reason, kinds=[SETTING])
    seen = {"seen": f"{NOON:%Y-%m-%dT%H:%M:%SZ}"}
    store.put(status=seen, spec={"setting": "fast"})
    assert [each.kind for each in store.verdict().troubles] == [TroubleKind.STARTING]
    store.put(status={**seen, "ready": True}, spec={"setting": "fast"})
    assert isinstance(store.verdict(), Clear)
    store.put(status=seen, spec={"setting": "fast"})
    (trouble,) = store.verdict().troubles
    assert trouble.kind is TroubleKind.LOST
    assert trouble.message_fields["state"] == "is no longer current"


def test_the_time_is_that_of_the_pass_and_what_depends_on_it_counts_as_current_before():
    store = an_own_store(
        a_reason(
            current="now - timestamp(object.status.seen) < duration(parameters.limit)",
            parameters={"limit": "5m"},
        )
    )
    store.put(status={"seen": "2000-01-01T00:00:00Z"})
    (trouble,) = store.verdict().troubles
    assert trouble.kind is TroubleKind.LOST
    assert trouble.message_fields["state"] == "is not current"
    assert store.kind().remember_current is None
