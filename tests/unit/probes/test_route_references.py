"""The objects that a route refers to: how they are found, when they are deleted or unreadable."""

import pytest

from reporter.kinds.core import SERVICES, Service
from reporter.kinds.gateway_api import (
    GATEWAYS,
    HTTP_ROUTES,
    INFERENCE_POOLS,
    Gateway,
    HTTPRoute,
    InferencePool,
)
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Unknown
from tests.support.builders import an_observed_condition
from tests.support.model_builders import (
    CREATED_BY,
    EPP,
    GATEWAY,
    MODEL,
    POOL,
    ROUTE,
    TEAM,
    a_class,
    a_gateway,
    a_model,
    a_model_store,
    a_parent,
    a_picker,
    a_picker_service,
    a_pool,
    a_route,
    an_entry,
)
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble


REASON = "inferencesetRouteNotReady"
DRIFTED = {CREATED_BY: MODEL, "app": "old"}


DELETED = {
    "route": (HTTPRoute, a_route(), "HTTPRoute qwen-route was deleted"),
    "Gateway": (
        Gateway,
        a_gateway(),
        "HTTPRoute qwen-route parent Gateway team-a-gw was deleted",
    ),
    "pool": (
        InferencePool,
        a_pool(),
        "HTTPRoute qwen-route backend InferencePool qwen-inferencepool was deleted",
    ),
    "Service of the picker": (
        Service,
        a_picker_service(),
        (
            "InferencePool qwen-inferencepool has as its endpoint picker Service"
            " qwen-inferencepool-epp, which was deleted"
        ),
    ),
}


@pytest.mark.parametrize(("type_", "deleted", "text"), DELETED.values(), ids=DELETED.keys())
def test_what_was_deleted_is_lost_and_as_young_as_its_absence(type_, deleted, text):
    verdict = verdict_of(REASON, *a_model(without=[type_]), deleted=[deleted])
    assert rendered_message(verdict) == f"{text}."
    assert (only_trouble(verdict).kind, only_trouble(verdict).object_created_at) == (
        TroubleKind.LOST,
        None,
    )


def test_a_deleted_gateway_is_reported_whatever_the_frozen_status_reports():
    for entries in ((), (an_entry(),)):
        route = a_route(ROUTE, *entries, unseen=not entries)
        verdict = verdict_of(REASON, *a_model(route, without=[Gateway]))
        assert only_trouble(verdict).cause.code == "GatewayNotFound"


def test_a_pool_that_is_deleted_is_reported_instead_of_istios_report_about_it():
    condition = an_observed_condition(
        "ResolvedRefs", "False", "BackendNotFound", f"backend({POOL}) not found"
    )
    objects = a_model(a_route(ROUTE, an_entry(condition)), without=[InferencePool])
    assert only_trouble(verdict_of(REASON, *objects)).cause.code == "PoolNotFound"


def test_a_route_is_found_by_name_or_by_its_pool_without_any_label():
    for name in (ROUTE, "other-name"):
        objects = a_model(a_route(name, unseen=True, labels=None), without=[])
        if name != ROUTE:
            objects = [o for o in objects if o.metadata.name != ROUTE]
        assert only_trouble(verdict_of(REASON, *objects)).cause.object.name == name


def test_a_pool_is_found_by_following_the_route():
    objects = a_model(a_route(pool="own-pool"), a_pool("own-pool", selects=DRIFTED, labels=None))
    objects = [o for o in objects if o.metadata.name != POOL]
    assert only_trouble(verdict_of(REASON, *objects)).cause.object.name == "own-pool"


def test_the_other_parent_of_a_route_is_checked_as_well():
    both = (a_parent(), a_parent("second-gw"))
    assert (
        only_trouble(verdict_of(REASON, *a_model(a_route(parents=both)))).cause.code
        == "GatewayNotFound"
    )


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (HTTP_ROUTES, ROUTE),
        (HTTP_ROUTES, "qwen-b"),
        (INFERENCE_POOLS, POOL),
        (GATEWAYS, GATEWAY),
        (SERVICES, EPP),
    ],
)
def test_a_reference_of_a_route_that_cannot_be_decoded_is_unknown(kind, name):
    store = a_model_store(*a_model(a_picker()))
    store.mark_undecodable(kind, TEAM, name)
    assert isinstance(verdict_of(REASON, store=store), Unknown)


def test_a_gateway_that_was_never_decoded_is_not_missing():
    store = a_model_store(*a_model(a_class(), without=[Gateway]))
    store.mark_undecodable(GATEWAYS, TEAM, GATEWAY)
    assert isinstance(verdict_of(REASON, store=store), Unknown)
