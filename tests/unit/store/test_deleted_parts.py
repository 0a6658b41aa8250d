"""The routes, pools and Deployments that a store remembers as deleted, by their InferenceSet."""

from msgspec.structs import replace

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.gateway_api import HTTP_ROUTES, INFERENCE_POOLS
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.resources.routes import find_deleted_parts
from reporter.store.history import MAX_PARTS
from tests.support.model_builders import (
    SUBJECT,
    a_model,
    a_model_store,
    a_picker,
    a_pool,
    a_route,
    a_set,
    delete_from_store,
)


def remembered(store) -> list[str]:
    kinds = (HTTP_ROUTES, INFERENCE_POOLS, DEPLOYMENTS)
    return [each.name for each in find_deleted_parts(store.snapshot(), SUBJECT, *kinds)]


def test_parts_are_remembered_until_they_are_there_again():
    store = a_model_store(*a_model(), deleted=[a_route("old"), a_route(), a_pool(), a_picker()])
    assert remembered(store) == [
        "old",
        "qwen-route",
        "qwen-inferencepool",
        "qwen-inferencepool-epp",
    ]
    store.upsert(HTTP_ROUTES, a_route())
    assert "qwen-route" not in remembered(store)


def test_parts_are_forgotten_with_their_set():
    store = a_model_store(*a_model(), deleted=[a_route()])
    delete_from_store(store, a_set())
    assert not remembered(store)
    delete_from_store(store, a_pool())
    store.upsert(INFERENCE_SETS, a_set())
    assert not remembered(store)


def test_parts_are_forgotten_when_another_set_takes_the_name():
    store = a_model_store(*a_model(), deleted=[a_route()])
    other = a_set()
    store.upsert(INFERENCE_SETS, replace(other, metadata=replace(other.metadata, uid="other")))
    assert not remembered(store)


def test_few_parts_are_remembered_of_a_set():
    deleted = [a_route(f"r{number}") for number in range(MAX_PARTS + 2)]
    store = a_model_store(*a_model(), deleted=deleted)
    assert remembered(store) == [f"r{number}" for number in range(2, MAX_PARTS + 2)]


def test_parts_that_a_list_lacks_once_their_crd_is_back_are_deleted():
    store = a_model_store(*a_model())
    store.replace(INFERENCE_POOLS, [])
    assert remembered(store) == ["qwen-inferencepool"]
