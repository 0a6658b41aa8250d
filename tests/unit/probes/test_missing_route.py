"""The verdicts about a model without a route, by what else there is, or was."""

import pytest
from msgspec.structs import replace

from reporter.kinds.apps import Deployment
from reporter.kinds.core import Pod
from reporter.kinds.gateway_api import HTTPRoute, InferencePool
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear
from tests.support.catalogue_fixture import DEFAULT_FLAGS, a_probe_request
from tests.support.model_builders import (
    CREATED_BY,
    MODEL,
    SUBJECT,
    a_model,
    a_model_store,
    a_picker,
    a_pool,
    a_route,
    a_workspace,
)
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble, verdicts_of_request


REASON = "inferencesetRouteNotReady"
UNROUTED = a_model(without=[HTTPRoute, InferencePool, Deployment, Pod])
OF_CHART = {CREATED_BY: MODEL, "kaito.sh/owned-by": "modeldeployment"}


@pytest.mark.parametrize(
    ("deleted", "name", "code", "kind"),
    [
        ([a_route(), a_pool()], "qwen-route", "Deleted", TroubleKind.LOST),
        ([a_route("old"), a_pool()], "old", "Deleted", TroubleKind.LOST),
        ([a_pool()], "qwen-route", "RouteNotFound", TroubleKind.DECLARED),
        ([a_picker()], "qwen-route", "RouteNotFound", TroubleKind.DECLARED),
    ],
)
def test_a_route_is_missed_although_all_that_belongs_to_it_went(deleted, name, code, kind):
    found = only_trouble(verdict_of(REASON, *UNROUTED, deleted=deleted))
    assert (found.cause.object.name, found.cause.code, found.kind) == (name, code, kind)


def test_a_route_is_expected_of_what_the_chart_made():
    objects = [*UNROUTED, a_workspace(labels=OF_CHART)]
    assert only_trouble(verdict_of(REASON, *objects)).cause.code == "RouteNotFound"


def test_a_route_that_never_was_is_trouble_where_nothing_is_suppressed():
    assert isinstance(verdict_of(REASON, *UNROUTED), Clear)
    flags = {**DEFAULT_FLAGS, "suppression": "off"}
    request = replace(a_probe_request(REASON), subject=SUBJECT, flags=flags)
    (verdict,) = verdicts_of_request(request, a_model_store(*UNROUTED))
    assert rendered_message(verdict) == "HTTPRoute qwen-route does not exist."
