"""The plan of the store for objects that are over, and for what others do to its objects."""

from datetime import timedelta

from reporter.kinds.health_events import Resolution
from tests.support.builders import HOUR, MINUTE, NOON, an_active_verdict
from tests.support.health_events import a_health_event, a_spec, resolved
from tests.unit.history.test_plan import BBR, a_store


def test_object_is_deleted_a_day_after_the_end_of_its_episode():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().replay.set_clear(BBR).advance(31)
    store.settle().replay.advance(24 * HOUR - MINUTE)
    assert store.plan().deadline == NOON + 24 * HOUR + timedelta(seconds=31)
    assert store.settle().phases() == ["clusterBBR Resolved Cleared"]
    store.replay.advance(2 * MINUTE)
    assert store.settle().existing == {}


def test_episode_that_lasts_is_kept_for_longer_than_the_retention():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().replay.advance(100 * HOUR)
    assert store.settle().phases() == ["clusterBBR Active"]


def test_active_object_that_somebody_deletes_is_made_again():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    before = list(store.settle().existing)
    store.existing.clear()
    assert list(store.settle().existing) == before


def test_object_that_somebody_else_resolved_is_active_again_while_it_runs():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    ((name, found),) = store.settle().existing.items()
    store.existing[name] = a_health_event(name, found.spec, **resolved(NOON, Resolution.CLEARED))
    assert store.settle().phases() == ["clusterBBR Active"]


def test_object_that_was_resolved_without_a_time_gets_one():
    store = a_store()
    store.existing["one"] = a_health_event("one", a_spec("clusterBBR"), phase="Resolved")
    assert store.settle().only().status["resolvedTime"] == "2026-05-01T12:00:00Z"


def test_fields_of_other_controllers_stay():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    ((name, found),) = store.settle().existing.items()
    theirs = {"nodeQuarantined": "Quarantined", "faultRemediated": False}
    store.existing[name] = a_health_event(name, found.spec, **theirs)
    store.replay.set_clear(BBR).advance(31)
    status = store.settle().only().status
    assert status["phase"] == "Resolved"
    assert theirs.items() <= status.items()


def test_object_that_is_being_deleted_is_left_alone():
    store = a_store()
    store.existing["one"] = a_health_event("one", a_spec("clusterBBR"), deleted_at=NOON)
    plan = store.plan()
    assert (plan.patches, plan.deletes, plan.creates) == ((), (), ())
