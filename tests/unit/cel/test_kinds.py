"""Declared kinds in the store: which version is read, and tables beside those of the program."""

from dataclasses import replace

import pytest

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kube.paths import name_field_selector
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, Watching
from reporter.model.verdicts import Active, Clear, ObjectRef
from tests.support.builders import MINUTE, NOON, a_deployment
from tests.support.own_reasons import TEAM, a_reason, an_own_store


SERVICES = "inferenceservices.serving.kserve.io"
DEPLOYMENT = {"kind": "Deployment", "group": "apps", "version": "v1", "resource": "deployments"}


def discovered(store, *versions, at=NOON + MINUTE):
    store.store.record_discovery(DiscoveryResult({SERVICES: versions}), now=at)
    return store.store.served_version(store.kind())


def test_the_version_that_the_api_server_prefers_is_read():
    store = an_own_store()
    assert store.store.served_version(store.kind()) is None
    assert discovered(store, "v1", "v1beta1") == "v1"
    assert discovered(store, "v2", "v1", at=NOON + 2 * MINUTE) == "v1"
    assert discovered(store, "v2", "v1", at=NOON + 3 * MINUTE) == "v2"


def test_a_named_version_that_is_not_served_is_unknown():
    kind = {"kind": "Setting", "group": "example.com", "resource": "settings", "version": "v2"}
    store = an_own_store(a_reason(kind="Setting", current="object.ok"), kinds=[kind])
    setting = store.kind("Setting")
    store.store.record_discovery(
        DiscoveryResult({"settings.example.com": ("v1",)}), now=NOON + MINUTE
    )
    assert store.store.served_version(setting) is None
    store.store.set_watch_state(setting, NotServed())
    (state,) = [
        state
        for kind, state in zip(store.store.kinds, store.store.watch_states, strict=True)
        if kind == setting
    ]
    assert isinstance(state, NotSynced)
    assert "served as v1 only" in state.why


def test_a_declared_kind_of_a_built_in_group_may_be_missing_and_one_of_the_core_group_not():
    store = an_own_store()
    kind = store.kind()
    assert replace(kind, group="resource.k8s.io").is_built_in is False
    assert replace(kind, group="").is_built_in is True
    assert replace(kind, group="apps", is_declared=False).is_built_in is True


def test_what_the_program_reads_of_the_same_objects_is_apart():
    reason = a_reason(kind="Deployment", current="object.spec.paused == false")
    store = an_own_store(reason, kinds=[DEPLOYMENT])
    store.store.upsert(DEPLOYMENTS, a_deployment("router", TEAM))
    assert isinstance(store.verdict(), Clear)
    store.put("Deployment", metadata={"name": "router"}, spec={"paused": True})
    verdict = store.verdict()
    assert isinstance(verdict, Active)
    assert verdict.troubles[0].cause.object == ObjectRef("deployments.apps", TEAM, "router")
    store.store.mark_undecodable(DEPLOYMENTS, TEAM, "router")
    assert isinstance(store.verdict(), Active)
    store.put("Deployment", metadata={"name": "router"}, spec={"paused": False})
    assert ObjectRef("deployments.apps", TEAM, "router") in store.store.snapshot().undecodable
    assert isinstance(store.verdict(), Clear)


def test_a_change_of_fields_that_no_expression_names_dirties_nothing():
    store = an_own_store()
    store.put(status={"conditions": [], "url": "a"})
    store.store.take_dirty()
    store.put(status={"conditions": [], "url": "b"})
    assert store.store.take_dirty() == frozenset()


@pytest.mark.parametrize(
    ("name", "selector", "expected"),
    [("", "a=b", "a=b"), ("istio", "", "metadata.name=istio"), ("", "", "")],
)
def test_the_field_selector_is_that_of_the_kind_or_of_its_only_object(name, selector, expected):
    kind = replace(DEPLOYMENTS, object_name=name, field_selector=selector)
    assert name_field_selector(kind) == expected


def test_the_watch_of_a_kind_that_comes_is_open_like_any_other():
    store = an_own_store()
    store.store.set_watch_state(store.kind(), NotServed())
    assert isinstance(store.verdict(), Clear)
    discovered(store, "v1")
    store.store.set_watch_state(store.kind(), Watching())
    store.put(status={"conditions": []})
    assert isinstance(store.verdict(), Active)
