"""
The store of HealthEvents: what a write of ours has made, and what cannot be decoded.
"""

from reporter.model.kinds.productionstack.health_events import HEALTH_EVENTS
from reporter.model.observations import Watching
from reporter.stages.store.health_events import HealthEventStore
from tests.support.health_events import NAMESPACE, a_health_event


def a_store(*objects) -> HealthEventStore:
    store = HealthEventStore(lambda _: "v1alpha1")
    store.set_watch_state(HEALTH_EVENTS, Watching())
    for each in objects:
        store.upsert(HEALTH_EVENTS, each)
    return store


def test_an_object_that_was_created_is_there_before_the_watch_shows_it():
    store, new = a_store(), a_health_event()
    store.created(new)
    assert list(store.objects.values()) == [new]


def test_what_the_watch_has_shown_already_is_newer():
    newer = a_health_event(phase="Resolved")
    store = a_store(newer)
    store.created(a_health_event())
    assert list(store.objects.values()) == [newer]


def test_an_object_that_cannot_be_decoded_is_known_by_name_alone():
    store = a_store(a_health_event())
    store.mark_undecodable(HEALTH_EVENTS, NAMESPACE, "one", None)
    assert store.objects == {}
    assert store.undecodable == {(NAMESPACE, "one")}
    store.upsert(HEALTH_EVENTS, a_health_event(phase="Resolved"))
    assert (len(store.objects), store.undecodable) == (1, frozenset())
