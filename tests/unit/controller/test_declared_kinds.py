"""The second look at objects of kinds that a catalogue declares, under names of their own."""

import msgspec

from reporter.controller.reread_contents import Cache, Undecodable
from reporter.model.observations import WatchLost
from reporter.model.verdicts import ObjectRef
from tests.support.builders import NOON
from tests.support.own_reasons import TEAM, OwnStore, a_reason, an_own_store


WIDGETS = "widgets.example.com"


def a_widget_kind(name: str) -> dict[str, str]:
    selector = f"made-by={name.lower()}"
    kind = {"kind": "Widget", "group": "example.com", "resource": "widgets"}
    return {"name": name, "label-selector": selector, **kind}


def a_store() -> OwnStore:
    reasons = [
        a_reason(
            kind=name, current="has(object.status.up)", reason=f"modelharness{name}Out", rank=rank
        )
        for rank, name in enumerate(("First", "Second"), start=80)
    ]
    return an_own_store(*reasons, kinds=[a_widget_kind("First"), a_widget_kind("Second")])


def kind_of(store: OwnStore, name: str):
    return Cache(store.store.kinds, store.store.snapshot()).kind_of(ObjectRef(WIDGETS, TEAM, name))


def test_an_object_is_found_in_the_kind_that_has_it():
    store = a_store()
    first, second = (each for each in store.store.kinds if each.kind == "Widget")
    assert kind_of(store, "chat") is first, "whatever lacks it"
    raw = b'{"metadata":{"name":"chat","namespace":"team-a"}}'
    store.store.upsert(second, msgspec.json.decode(raw, type=second.type))
    assert kind_of(store, "chat") is second
    cache = Cache(store.store.kinds, store.store.snapshot())
    assert cache.content(second, ObjectRef(WIDGETS, TEAM, "chat")) is not None
    assert cache.content(first, ObjectRef(WIDGETS, TEAM, "chat")) is None


def test_an_object_that_cannot_be_decoded_is_so_in_its_own_kind():
    store = a_store()
    first, second = (each for each in store.store.kinds if each.kind == "Widget")
    store.store.mark_undecodable(second, TEAM, "chat")
    cache = Cache(store.store.kinds, store.store.snapshot())
    assert cache.content(second, ObjectRef(WIDGETS, TEAM, "chat")) is Undecodable.UNDECODABLE
    assert cache.content(first, ObjectRef(WIDGETS, TEAM, "chat")) is None


def test_a_kind_without_a_watch_is_left_out():
    store = a_store()
    first, second = (each for each in store.store.kinds if each.kind == "Widget")
    store.store.set_watch_state(first, WatchLost(NOON, "the API server is gone"))
    assert kind_of(store, "chat") is second
    store.store.set_watch_state(second, WatchLost(NOON, "the API server is gone"))
    assert kind_of(store, "chat") is None
