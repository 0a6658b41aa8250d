"""
The verdicts about the routing of requests while a status is older than its spec, or has a default time.
"""

from reporter.kinds.gateway_api import INFERENCE_POOLS
from reporter.model.verdicts import ObjectRef, Unknown
from tests.support.builders import LONG_AGO, NOON, an_observed_condition
from tests.support.model_builders import (
    CREATED_BY,
    EPOCH,
    MODEL,
    POOL,
    ROUTE,
    a_gateway,
    a_model,
    a_parent,
    a_pool,
    a_route,
    an_entry,
    an_entry_of_istio,
)
from tests.support.model_verdicts import verdict_of
from tests.support.probe_verdicts import only_trouble


REASON = "inferencesetRouteNotReady"
DRIFTED = {CREATED_BY: MODEL, "app": "old"}


def test_conditions_of_an_older_spec_of_a_route_are_unknown():
    for words in (
        an_observed_condition("Accepted", observed=1),
        an_observed_condition("ResolvedRefs", "False", "x", observed=1),
    ):
        route = a_route(
            ROUTE, an_entry(an_observed_condition("Accepted", observed=2), words), generation=2
        )
        assert isinstance(verdict_of(REASON, *a_model(route)), Unknown)
    assert isinstance(verdict_of(REASON, *a_model(a_pool(generation=2))), Unknown)


def test_a_selector_without_pods_counts_beside_a_status_of_an_older_spec():
    old_route = a_route(generation=2)
    for route in (a_route(), old_route):
        verdict = verdict_of(REASON, *a_model(route, a_pool(selects=DRIFTED, generation=2)))
        assert only_trouble(verdict).cause.code == "SelectsNothing"
    assert (
        verdict.why_partial
        == "condition Accepted of HTTPRoute team-a/qwen-route is older than its spec"
    )


def test_a_current_condition_of_a_route_counts_beside_one_of_an_older_spec():
    accepted = an_observed_condition("Accepted", observed=1)
    unresolved = an_observed_condition("ResolvedRefs", "False", "InvalidKind", "x", NOON, 2)
    route = a_route(ROUTE, an_entry(accepted, unresolved), generation=2)
    assert only_trouble(verdict_of(REASON, *a_model(route))).cause.code == "NotResolved"
    pool = a_pool(POOL, an_entry_of_istio(accepted, unresolved), generation=2)
    assert only_trouble(verdict_of(REASON, *a_model(pool))).cause.code == "PoolNotAccepted"


def test_a_parent_whose_status_is_old_hides_no_other():
    old = an_entry(an_observed_condition("Accepted", observed=1))
    refused = an_observed_condition("Accepted", "False", "NotAllowedByListeners", "x", NOON, 2)
    resolved = an_observed_condition("ResolvedRefs", observed=2)
    other = an_entry(refused, resolved, parent=a_parent("other-gw"))
    parents = (a_parent(), a_parent("other-gw"))
    route = a_route(ROUTE, old, other, parents=parents, generation=2)
    verdict = verdict_of(REASON, *a_model(route, a_gateway("other-gw")))
    assert only_trouble(verdict).cause.code == "NotAccepted"


def test_a_route_whose_status_is_old_leaves_itself_and_its_pools_open_and_no_other_route():
    refused = an_entry(an_observed_condition("Accepted", "False", "NoMatchingParent", "x"))
    stale = a_route(ROUTE, an_entry(an_observed_condition("Accepted", observed=1)), generation=2)
    verdict = verdict_of(REASON, *a_model(stale, a_route("other", refused)))
    assert only_trouble(verdict).cause.object.name == "other"
    routes = (ObjectRef("httproutes.gateway.networking.k8s.io", "team-a", n) for n in (ROUTE, "b"))
    assert [verdict.leaves_open(ref) for ref in routes] == [True, False]
    assert verdict.leaves_open(ObjectRef(INFERENCE_POOLS.group_resource, "team-a", POOL))


def test_a_default_time_of_a_route_is_none():
    pending = an_observed_condition("Accepted", "Unknown", "Pending", since=EPOCH)
    found = only_trouble(
        verdict_of(REASON, *a_model(a_route(ROUTE, an_entry(pending), created_at=LONG_AGO)))
    )
    assert found.since == LONG_AGO
