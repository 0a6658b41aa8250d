"""Undecodable objects are found by index key, at a cost that does not grow with their number."""

from collections.abc import Iterator, Mapping

from reporter.kinds.core import PODS
from reporter.kinds.gateway_api import HTTP_ROUTES, HTTPRoute
from reporter.kinds.objects import (
    ApiObject,
    Metadata,
    backend_pool_key,
    inference_set_key,
    namespace_key,
)
from reporter.model.verdicts import ObjectRef
from reporter.snapshot.lookups import MAX_OBJECTS, UndecodableIndex
from tests.support.builders import a_store


class CountedStubs(Mapping[ObjectRef, ApiObject | None]):
    """Stubs that count how often somebody goes through all of them."""

    def __init__(self, stubs: dict[ObjectRef, ApiObject | None]) -> None:
        self.stubs, self.walks = stubs, 0

    def __getitem__(self, ref: ObjectRef) -> ApiObject | None:
        return self.stubs[ref]

    def __iter__(self) -> Iterator[ObjectRef]:
        self.walks += 1
        return iter(self.stubs)

    def __len__(self) -> int:
        return len(self.stubs)


def a_ref(kind, namespace, name):
    return ObjectRef(kind.group_resource, namespace, name)


def a_route(namespace, name, of=""):
    labels = {"kaito.sh/inferenceset": of} if of else {}
    return HTTPRoute(metadata=Metadata(name=name, namespace=namespace, labels=labels))


ROUTES = {
    a_ref(HTTP_ROUTES, "team-a", "b"): a_route("team-a", "b", of="qwen"),
    a_ref(HTTP_ROUTES, "team-a", "a"): a_route("team-a", "a"),
    a_ref(PODS, "team-b", "x"): None,
}


def find(objects, key, kind=HTTP_ROUTES):
    store = a_store()
    return objects.find(kind, store.snapshot().tables[kind.resource].objects, key)


def test_an_object_is_found_by_its_metadata_or_by_what_its_spec_may_hold():
    objects = UndecodableIndex(ROUTES)
    assert find(objects, inference_set_key("team-a", "qwen")) == (("team-a", "b"),)
    assert find(objects, inference_set_key("team-a", "llama")) == ()
    assert find(objects, namespace_key("team-a")) == (("team-a", "a"), ("team-a", "b"))
    assert find(objects, backend_pool_key("team-a", "any")) == (("team-a", "a"), ("team-a", "b"))
    assert find(objects, backend_pool_key("team-b", "any")) == ()


def test_one_without_metadata_may_have_any_key_of_its_kind():
    objects = UndecodableIndex(ROUTES)
    assert find(objects, "anything", PODS) == (("team-b", "x"),)


def test_the_last_version_that_could_be_decoded_counts_as_well():
    store = a_store(a_route("team-a", "c", of="llama"))
    stubs = {a_ref(HTTP_ROUTES, "team-a", "c"): a_route("team-a", "c")}
    stored = store.snapshot().tables[HTTP_ROUTES.resource].objects
    key = inference_set_key("team-a", "llama")
    assert UndecodableIndex(stubs).find(HTTP_ROUTES, stored, key) == (("team-a", "c"),)


def test_a_lookup_names_only_so_many_of_very_many():
    stubs = {a_ref(PODS, "team-a", f"x-{number:02}"): None for number in range(20)}
    found = find(UndecodableIndex(stubs), "anything", PODS)
    assert found == tuple(("team-a", f"x-{number:02}") for number in range(MAX_OBJECTS))


def test_many_lookups_go_through_all_objects_once():
    stubs = CountedStubs(dict(ROUTES))
    objects = UndecodableIndex(stubs)
    for number in range(100):
        find(objects, inference_set_key("team-a", f"set-{number}"))
    assert stubs.walks == 1
