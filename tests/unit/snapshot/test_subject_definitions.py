"""Subjects that objects of other kinds make, by rules that are data."""

import pytest
from msgspec.structs import replace

from reporter.catalogue.subject_definitions import (
    NamespaceScope,
    SubjectDefinition,
    make_definitions,
)
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.gateway_api import GATEWAYS, HTTP_ROUTES, HTTPRoute
from reporter.kinds.objects import Metadata
from reporter.model.enums import Layer
from reporter.model.observations import NotSynced, Watching
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.rollup.touched import find_terminating
from reporter.snapshot.subjects import (
    Subjects,
    expand_placeholders,
    find_subjects,
    refresh_subjects,
    why_undecodable_subject,
)
from reporter.store.store import Store
from tests.support.builders import NOON
from tests.support.catalogue_fixture import SUBJECTS


MODELS = Layer.MODELDEPLOYMENT
ROUTE = Subject(MODELS, "team-a", "HTTPRoute/llama")
ALL_ROUTES = Subject(MODELS, "", "HTTPRoute/")


def a_rule(**changes) -> SubjectDefinition:
    return SubjectDefinition(
        MODELS, HTTP_ROUTES, **{"pack": "mine", "prefix": "httproute", **changes}
    )


def a_route(name: str = "llama", namespace: str = "team-a", **changes) -> HTTPRoute:
    return HTTPRoute(metadata=Metadata(name=name, namespace=namespace, **changes))


def a_namespace(name: str = "team-a", **changes) -> Namespace:
    return Namespace(metadata=Metadata(name=name, **changes))


def a_store(*objects, rules=None, kinds=(NAMESPACES, HTTP_ROUTES)) -> Store:
    store = Store(kinds, subjects=make_definitions([*SUBJECTS.all, *(rules or [a_rule()])]))
    for kind in kinds:
        store.set_watch_state(kind, Watching())
    for each in objects:
        store.upsert(NAMESPACES if isinstance(each, Namespace) else HTTP_ROUTES, each)
    return store


def subjects(store: Store) -> frozenset[Subject]:
    return find_subjects(store.snapshot()) - {CLUSTER_SUBJECT}


def test_a_subject_of_another_kind_has_the_kind_in_its_name():
    assert subjects(a_store(a_route())) == {ROUTE}
    assert (ROUTE.kind, ROUTE.object_name) == ("HTTPRoute", "llama")
    assert (ROUTE.all_of_kind.name, ROUTE.all_of_kind.is_unnamed) == ("HTTPRoute/", True)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {ROUTE}),
        ({"labels": {"model": "phi"}}, {ROUTE, Subject(MODELS, "team-a", "HTTPRoute/phi")}),
        ({"deletion_timestamp": NOON}, {ROUTE}),
    ],
)
def test_labels_and_names_of_objects_decide(changes, expected):
    rule = a_rule(name_label="model" if "labels" in changes else "")
    store = a_store(a_route("other", **changes), rules=[rule])
    if "labels" in changes:
        assert subjects(store) == expected - {ROUTE}
    else:
        assert (subjects(store) == set()) is bool(changes)


def test_an_object_without_the_labels_of_the_rule_is_no_subject():
    rule = a_rule(labels=(("served", "yes"),))
    assert subjects(a_store(a_route(), rules=[rule])) == set()
    assert subjects(a_store(a_route(labels={"served": "yes"}), rules=[rule])) == {ROUTE}


def test_only_labelled_namespaces_count_if_the_rule_says_so():
    rule = a_rule(scope=NamespaceScope.LABELLED, namespace_labels=(("llm", "yes"),))
    store = a_store(a_route(), a_namespace(), rules=[rule])
    first = refresh_subjects(store.snapshot(), Subjects(), now=NOON)
    assert ROUTE not in first.all
    store.upsert(NAMESPACES, a_namespace(labels={"llm": "yes"}))
    assert ROUTE in refresh_subjects(store.snapshot(), first, now=NOON).all


def test_everything_in_a_namespace_that_is_being_deleted_is_no_subject_but_terminating():
    store = a_store(a_route(), a_namespace(deletion_timestamp=NOON))
    assert subjects(store) == set()
    assert find_terminating(store.snapshot()) == {ROUTE}


def test_a_route_that_is_being_deleted_is_terminating():
    store = a_store(a_route(deletion_timestamp=NOON), a_namespace())
    assert find_terminating(store.snapshot()) == {ROUTE}


def test_only_its_own_placeholder_is_unknown_while_a_kind_cannot_be_listed():
    store = a_store(a_route())
    store.set_watch_state(HTTP_ROUTES, NotSynced("may not list it", refused=True))
    found = refresh_subjects(store.snapshot(), Subjects(), now=NOON)
    assert set(found.unknown) == {ALL_ROUTES}
    assert ALL_ROUTES in found.all
    assert not found.unknown_layers, "InferenceSets are known all the same"
    assert found.is_unseen(Subject(MODELS, "team-a", "HTTPRoute/phi"))
    assert not found.is_unseen(Subject(MODELS, "team-a", "phi"))


def test_unnamed_subjects_stand_for_their_kind_or_for_all():
    phi, other = Subject(MODELS, "team-a", "phi"), Subject(MODELS, "team-b", "HTTPRoute/llama")
    there = frozenset({CLUSTER_SUBJECT, ROUTE, phi, other})

    def expanded(*dirty: Subject) -> frozenset[Subject]:
        return expand_placeholders(frozenset(dirty), there)

    assert expanded(Subject(MODELS)) == {ROUTE, phi, other}
    assert expanded(ALL_ROUTES) == {ROUTE, other}
    assert expanded(Subject(MODELS, "team-a")) == {ROUTE, phi}
    assert expanded(Subject(MODELS, "team-a", "HTTPRoute/")) == {ROUTE}
    assert expanded(ROUTE, CLUSTER_SUBJECT) == {ROUTE, CLUSTER_SUBJECT}


def test_a_harness_may_be_an_object():
    rule = SubjectDefinition(Layer.MODELHARNESS, HTTP_ROUTES, pack="mine", prefix="httproute")
    store = a_store(a_route(), rules=[rule])
    assert subjects(store) == {replace(ROUTE, layer=Layer.MODELHARNESS)}
    everything = Subject(Layer.MODELHARNESS)
    assert expand_placeholders(frozenset({everything}), subjects(store)) == subjects(store)


def test_models_of_a_pack_with_a_harness_are_those_of_its_namespaces():
    harness = SubjectDefinition(Layer.MODELHARNESS, GATEWAYS, pack="mine", prefix="gateway")
    rules = [harness, a_rule(scope=NamespaceScope.HARNESS)]
    store = a_store(a_route(), rules=rules, kinds=(NAMESPACES, GATEWAYS, HTTP_ROUTES))
    assert subjects(store) == set()
    store.upsert(GATEWAYS, GATEWAYS.type(metadata=Metadata(name="web", namespace="team-a")))
    assert subjects(store) == {ROUTE, Subject(Layer.MODELHARNESS, "team-a", "Gateway/web")}


def test_a_route_that_was_never_decoded_stays_a_subject_of_which_nothing_is_known():
    store = a_store()
    store.mark_undecodable(HTTP_ROUTES, "team-a", "llama", None)
    assert subjects(store) == {ROUTE}
    why = why_undecodable_subject(store.snapshot(), ROUTE)
    assert why == "HTTPRoute team-a/llama could not be decoded"


PHI = Subject(MODELS, "team-a", "HTTPRoute/phi")


def test_the_subject_of_a_label_is_unknown_while_its_object_cannot_be_decoded():
    store = a_store(a_route("other"), rules=[a_rule(name_label="model")])
    stub = a_route("shard-0", labels={"model": "phi"})
    store.mark_undecodable(HTTP_ROUTES, "team-a", "shard-0", stub)
    assert subjects(store) == {PHI}
    why = why_undecodable_subject(store.snapshot(), PHI)
    assert why == "HTTPRoute team-a/shard-0 could not be decoded"
    assert not refresh_subjects(store.snapshot(), Subjects(), now=NOON).unknown
    store.upsert(HTTP_ROUTES, a_route("shard-1", labels={"model": "phi"}))
    assert not why_undecodable_subject(store.snapshot(), PHI), "the other object is known"


def test_a_name_that_is_no_label_says_nothing_about_the_subject():
    store = a_store(a_route("0", labels={"model": "phi"}), rules=[a_rule(name_label="model")])
    store.mark_undecodable(HTTP_ROUTES, "team-a", "phi", a_route("phi"))
    assert subjects(store) == {PHI}
    assert not why_undecodable_subject(store.snapshot(), PHI)


@pytest.mark.parametrize("label", ["name_label", "namespace_label"])
def test_an_object_whose_labels_cannot_be_decoded_may_make_any_subject(label):
    store = a_store(rules=[a_rule(**{label: "model"})])
    store.mark_undecodable(HTTP_ROUTES, "team-a", "shard-0", None)
    found = refresh_subjects(store.snapshot(), Subjects(), now=NOON)
    assert found.unknown == {ALL_ROUTES: "HTTPRoute team-a/shard-0 could not be decoded"}
    assert found.is_unseen(PHI)
    store.delete(HTTP_ROUTES, "team-a", "shard-0")
    assert not refresh_subjects(store.snapshot(), found, now=NOON).unknown
