"""The verdicts about external authorization with the source istio."""

import msgspec
import pytest

from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.istio import (
    AUTHORIZATION_POLICIES,
    MAX_CHARACTERS,
    MESH_CONFIG_MAPS,
    AuthorizationPolicy,
    MeshConfigMap,
)
from reporter.model.enums import Layer, TroubleKind
from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Clear, Unknown
from tests.support.builders import LONG_AGO, NOON, a_deployment
from tests.support.harness_builders import (
    TEAM,
    a_team,
    an_api_key,
    an_authz_filter,
    rendered_troubles,
)
from tests.support.probe_verdicts import only_trouble
from tests.support.source_builders import a_mesh, a_policy, a_store, verdict_of


REASON = "modelharnessExtAuthzProviderMissing"
SUBJECT = Subject(Layer.MODELHARNESS, TEAM)
KNOWN = a_mesh("apikey-ext-authz", "otel")
TYPO = a_policy(provider="apikey-ext-auth")


def istiod(revision: str, name: str = "istiod"):
    return a_deployment(name, "istio-system", labels={"app": "istiod", "istio.io/rev": revision})


def verdict(*objects, unwatched=(), **changes):
    return verdict_of(REASON, SUBJECT, a_store(a_team(), *objects, **changes), unwatched)


def test_a_provider_that_mesh_config_does_not_have_is_reported_with_the_nearest_one():
    found = verdict(TYPO, KNOWN)
    trouble = only_trouble(found)
    assert (trouble.cause.code, trouble.kind, trouble.is_out, trouble.object_created_at) == (
        "ProviderNotFound",
        TroubleKind.DECLARED,
        True,
        LONG_AGO,
    )
    assert rendered_troubles(found) == [
        (
            'AuthorizationPolicy apikey asks provider "apikey-ext-auth", which MeshConfig does not'
            ' have (did you mean "apikey-ext-authz"?)'
        )
    ]


def test_a_mesh_config_without_any_provider_has_none():
    assert only_trouble(verdict(TYPO, a_mesh(text="rootNamespace: istio-system")))
    assert only_trouble(verdict(TYPO, istiod("default"), a_mesh()))


CLEAR = {
    "no policy": [KNOWN],
    "a provider that is there": [a_policy(), KNOWN],
    "one that decides by itself": [a_policy(provider="x", action="DENY"), KNOWN],
    "no provider named": [a_policy(provider=None), KNOWN],
    "on its way out": [a_policy(provider="x", deleted=NOON), KNOWN],
    "of another namespace": [a_policy(provider="x", namespace="team-b"), KNOWN],
    "no MeshConfig, so that it is elsewhere": [TYPO],
    "a ConfigMap of that name elsewhere": [TYPO, a_mesh("x", namespace="apps")],
    "no mesh in it": [TYPO, MeshConfigMap(metadata=KNOWN.metadata, data=None)],
    "no YAML": [TYPO, a_mesh(text="a: [")],
    "a YAML of something else": [TYPO, a_mesh(text="- a")],
    "an odd list": [TYPO, a_mesh(text="extensionProviders: x")],
    "more than is read": [TYPO, a_mesh(text="a: " + "b" * MAX_CHARACTERS)],
    "a revision, whose MeshConfig is not read": [TYPO, KNOWN, istiod("canary")],
}


@pytest.mark.parametrize("objects", CLEAR.values(), ids=CLEAR.keys())
def test_a_policy_whose_provider_istio_knows_is_clear(objects):
    assert isinstance(verdict(*objects), Clear)


def test_a_policy_that_asks_takes_the_place_of_the_filter():
    assert only_trouble(verdict(an_api_key(), KNOWN)).cause.code == "FilterNotFound"
    assert isinstance(verdict(an_api_key(), a_policy(), KNOWN), Clear)


def test_the_filter_is_evaluated_beside_it():
    found = verdict(an_authz_filter(), TYPO, KNOWN)
    assert [each.cause.code for each in found.troubles] == [
        "ProviderNotFound",
        "NamespaceNotFound",
    ]


# ---------------------------------------------------------------- what cannot be seen


def test_without_the_source_policies_are_not_known():
    assert isinstance(verdict(kinds=DEFAULT_KINDS), Clear)
    assert only_trouble(verdict(an_api_key(), kinds=DEFAULT_KINDS)).cause.code == "FilterNotFound"


@pytest.mark.parametrize("kind", [AUTHORIZATION_POLICIES, MESH_CONFIG_MAPS])
@pytest.mark.parametrize("watch_state", [NotServed(), NotSynced("may not list it")])
def test_without_a_watch_the_filter_is_evaluated_as_without(kind, watch_state):
    watch_states = {kind: watch_state}
    assert isinstance(verdict(TYPO, KNOWN, watch_states=watch_states), Clear)
    found = verdict(TYPO, KNOWN, an_authz_filter(), watch_states=watch_states)
    assert only_trouble(found).cause.code == "NamespaceNotFound"


@pytest.mark.parametrize("kind", [AUTHORIZATION_POLICIES, MESH_CONFIG_MAPS])
def test_a_missing_provider_that_was_last_seen_is_neither_reported_nor_cleared(kind):
    assert isinstance(verdict(TYPO, KNOWN, unwatched=[kind]), Unknown)
    assert isinstance(verdict(a_policy(), KNOWN, unwatched=[kind]), Clear)
    found = verdict(TYPO, KNOWN, an_authz_filter(), unwatched=[kind])
    assert only_trouble(found).cause.code == "NamespaceNotFound"


LOST_LONG_AGO = WatchLost(LONG_AGO, "it ended")


@pytest.mark.parametrize("watch_state", [NotSynced("may not list it"), LOST_LONG_AGO])
@pytest.mark.parametrize("policies", [[], [a_policy()]], ids=["none seen", "one seen"])
def test_while_policies_cannot_be_read_one_may_take_the_place_of_the_filter(watch_state, policies):
    watch_states = {AUTHORIZATION_POLICIES: watch_state}
    found = verdict(an_api_key(), *policies, KNOWN, watch_states=watch_states)
    assert isinstance(found, Unknown)
    assert "authorizationpolicies.security.istio.io" in found.why


@pytest.mark.parametrize("watch_state", [Watching(), NotServed(), WatchLost(NOON, "it ended")])
def test_policies_that_are_read_or_cannot_be_made_prove_that_none_takes_its_place(watch_state):
    found = verdict(an_api_key(), KNOWN, watch_states={AUTHORIZATION_POLICIES: watch_state})
    assert only_trouble(found).cause.code == "FilterNotFound"


@pytest.mark.parametrize(("namespace", "type_"), [(TEAM, Unknown), ("team-b", Active)])
def test_a_policy_that_cannot_be_decoded_may_take_the_place_of_the_filter(namespace, type_):
    store = a_store(a_team(), an_api_key(), KNOWN)
    stub = AuthorizationPolicy(metadata=a_policy(namespace=namespace).metadata)
    store.mark_undecodable(AUTHORIZATION_POLICIES, namespace, "apikey", stub)
    assert isinstance(verdict_of(REASON, SUBJECT, store), type_)


@pytest.mark.parametrize("kind", [AUTHORIZATION_POLICIES, MESH_CONFIG_MAPS])
def test_without_an_api_key_nothing_is_asked_of_what_cannot_be_read(kind):
    assert isinstance(verdict(KNOWN, watch_states={kind: NotSynced("may not list it")}), Clear)


def test_a_mesh_config_that_was_deleted_clears_nothing():
    assert isinstance(verdict(TYPO, deleted=[KNOWN]), Unknown)
    assert isinstance(verdict(deleted=[KNOWN]), Clear)
    assert only_trouble(verdict(TYPO, an_authz_filter(), deleted=[KNOWN]))


# ---------------------------------------------------------------- what is kept


def test_only_the_names_of_providers_are_kept():
    data = {"mesh": "extensionProviders: [{name: b, secret: s3cret}, {name: a}, 5]", "x": "y"}
    raw = msgspec.json.encode({"metadata": {"name": "istio"}, "data": data})
    made = msgspec.json.decode(raw, type=MeshConfigMap)
    assert made.providers == ("a", "b")
    assert b"s3cret" not in msgspec.json.encode(made)


def test_a_policy_is_read_as_istio_writes_it():
    raw = b'{"metadata": {"name": "a"}, "spec": {"action": "CUSTOM", "provider": {"name": "p"}}}'
    assert msgspec.json.decode(raw, type=AuthorizationPolicy).provider_name == "p"


def test_mesh_config_touches_every_harness_and_a_policy_its_own():
    known = a_store(a_team())
    known.take_dirty()
    known.upsert(AUTHORIZATION_POLICIES, TYPO)
    assert known.take_dirty() == {SUBJECT}
    known.upsert(MESH_CONFIG_MAPS, KNOWN)
    assert known.take_dirty() == {Subject(Layer.MODELHARNESS)}
