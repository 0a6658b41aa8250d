"""
Objects that this program writes to: what can be written, what a write has made, what is not known.
"""

import msgspec

from reporter.kinds.health_events import HEALTH_EVENTS, HealthEvent
from reporter.kinds.productionstack import (
    PRODUCTION_STACK_STATUSES,
    ProductionStackStatus,
)
from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost
from reporter.store.written_objects import BATCH_SIZE, RECENT_CHANGES, WrittenObjectStore
from tests.support.builders import NOON
from tests.support.health_events import NAMESPACE, a_health_event
from tests.support.status_objects import a_status_object


ONE, TWO = a_status_object(name="one"), a_status_object(name="two")


def a_store(*objects) -> WrittenObjectStore:
    store = WrittenObjectStore(ProductionStackStatus, lambda _: "v1alpha1")
    store.set_watch_state(PRODUCTION_STACK_STATUSES, Watching())
    replace(store, *objects)
    return store


def replace(store: WrittenObjectStore, *objects, unread=()) -> int:
    unread = {("team-m", name): None for name in unread}
    return len(list(store.replace_in_batches(PRODUCTION_STACK_STATUSES, objects, unread)))


def names(store: WrittenObjectStore) -> set[str]:
    return {name for _, name in store.objects}


def test_a_list_replaces_all():
    store = a_store(ONE)
    replace(store, TWO)
    assert names(store) == {"two"}


def test_a_long_list_lets_other_tasks_run():
    many = [a_status_object(name=f"{number}") for number in range(2 * BATCH_SIZE + 1)]
    store = a_store()
    assert replace(store, *many) == 2
    assert len(store.objects) == len(many)


def test_nothing_can_be_written_while_there_is_no_list():
    store = a_store(ONE)
    for state in (NotSynced("may not list"), NotServed()):
        store.set_watch_state(PRODUCTION_STACK_STATUSES, state)
        assert names(store) == set()
    store.set_watch_state(PRODUCTION_STACK_STATUSES, WatchLost(NOON, "closed"))
    assert names(store) == {"one"}, "the version of the object guards each write"


def test_what_cannot_be_decoded_is_left_out_until_it_can():
    store = a_store(ONE, TWO)
    store.mark_undecodable(PRODUCTION_STACK_STATUSES, "team-m", "one", None)
    assert names(store) == {"two"}
    replace(store, TWO, unread=["one"])
    assert names(store) == {"two"}
    store.upsert(PRODUCTION_STACK_STATUSES, ONE)
    assert names(store) == {"one", "two"}
    store.mark_undecodable(PRODUCTION_STACK_STATUSES, "team-m", "one", None)
    store.delete(PRODUCTION_STACK_STATUSES, "team-m", "one")
    assert names(store) == {"two"}


def test_a_write_is_stored_unless_the_watch_was_faster():
    store = a_store(ONE)
    (found,) = store.objects.values()
    written = a_status_object(name="one", status={"state": "Current"})
    store.written(found, written)
    assert list(store.objects.values()) == [written]
    newer = a_status_object(name="one", generation=2)
    store.upsert(PRODUCTION_STACK_STATUSES, newer)
    store.written(written, a_status_object(name="one", status={"state": "Failed"}))
    assert list(store.objects.values()) == [newer]


def test_each_change_is_reported_once():
    store, calls = a_store(), []
    store.changes.subscribe(lambda: calls.append(store.revision))
    store.upsert(PRODUCTION_STACK_STATUSES, ONE)
    store.upsert(PRODUCTION_STACK_STATUSES, a_status_object(name="one"))
    store.set_watch_state(PRODUCTION_STACK_STATUSES, Watching())
    store.delete(PRODUCTION_STACK_STATUSES, "team-m", "one")
    store.delete(PRODUCTION_STACK_STATUSES, "team-m", "one")
    assert len(calls) == len(set(calls)) == 2


def test_an_object_that_can_no_longer_be_decoded_or_can_again_or_goes_is_a_change():
    store, calls = a_store(ONE), []
    store.changes.subscribe(lambda: calls.append(store.undecodable))
    one = ("team-m", "one")
    replace(store, unread=["one"])
    assert calls == [{one}]
    store.upsert(PRODUCTION_STACK_STATUSES, ONE)
    assert calls == [{one}, set()]
    store.mark_undecodable(PRODUCTION_STACK_STATUSES, "team-m", "two", None)
    store.delete(PRODUCTION_STACK_STATUSES, "team-m", "two")
    assert calls[2:] == [{("team-m", "two")}, set()]


def test_what_has_changed_is_told_by_name_unless_it_may_have_been_any():
    store = a_store(ONE)
    before, one = store.revision, ("team-m", "one")
    assert store.changed_since(before) == set()
    store.mark_undecodable(PRODUCTION_STACK_STATUSES, "team-m", "two", None)
    store.upsert(PRODUCTION_STACK_STATUSES, a_status_object(name="one", generation=2))
    assert store.changed_since(before) == {one, ("team-m", "two")}
    assert store.changed_since(before + 1) == {one}
    store.set_watch_state(PRODUCTION_STACK_STATUSES, NotSynced())
    lost = store.revision
    store.delete(PRODUCTION_STACK_STATUSES, *one)
    assert (store.changed_since(before), store.changed_since(lost)) == (None, {one})
    for generation in range(RECENT_CHANGES):
        store.upsert(PRODUCTION_STACK_STATUSES, a_status_object(generation=generation))
    assert store.changed_since(lost) is None


# ---------------------------------------------------------------- objects that are created


def health_event_store(*objects) -> WrittenObjectStore[HealthEvent]:
    store = WrittenObjectStore(HealthEvent, lambda _: "v1alpha1")
    store.set_watch_state(HEALTH_EVENTS, Watching())
    for each in objects:
        store.upsert(HEALTH_EVENTS, each)
    return store


def test_an_object_that_was_created_is_there_before_the_watch_shows_it():
    store, new = health_event_store(), a_health_event()
    store.created(new)
    assert list(store.objects.values()) == [new]


def test_what_the_watch_has_shown_already_is_newer():
    newer = a_health_event(phase="Resolved")
    store = health_event_store(newer)
    store.created(a_health_event())
    assert list(store.objects.values()) == [newer]


def test_an_object_is_not_there_again_whose_end_was_shown_before_its_creation_was_answered():
    created = a_health_event()
    store = health_event_store(created)
    store.delete(HEALTH_EVENTS, NAMESPACE, created.metadata.name)
    store.created(created)
    assert store.objects == {}
    again = msgspec.structs.replace(
        created, metadata=msgspec.structs.replace(created.metadata, uid="another")
    )
    store.created(again)
    assert list(store.objects.values()) == [again]


def test_an_object_that_cannot_be_decoded_is_known_by_name_alone():
    store = health_event_store(a_health_event())
    store.mark_undecodable(HEALTH_EVENTS, NAMESPACE, "one", None)
    assert store.objects == {}
    assert store.undecodable == {(NAMESPACE, "one")}
    store.upsert(HEALTH_EVENTS, a_health_event(phase="Resolved"))
    assert (len(store.objects), store.undecodable) == (1, frozenset())
