"""The verdicts about the EnvoyFilters of a harness."""

import pytest

from reporter.kinds.istio import ENVOY_FILTERS
from reporter.model.enums import TroubleKind
from reporter.model.observations import NotServed
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import NOON
from tests.support.harness_builders import (
    FILTERS,
    TEAM,
    a_filter,
    a_gateway,
    a_harness_store,
    a_route,
    an_authz_filter,
    rendered_troubles,
    verdict_of,
)
from tests.support.probe_verdicts import only_trouble


REASON = "modelharnessCatchAllFilterRejected"
FIRST, *OTHERS = FILTERS
REST = [a_filter(name) for name in OTHERS]
WARNING = ("WARNING", "IST0151", "EnvoyFilterUsesRelativeOperation")
ERROR = ("ERROR", "IST0106", "SchemaValidationError")


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([a_gateway(), a_filter(), *REST], id="healthy"),
        pytest.param([], id="no harness yet"),
        pytest.param([a_gateway(deleted=NOON)], id="the harness goes"),
        pytest.param(
            [a_gateway("plain", labels=None), a_route(gateway="plain")],
            id="a Gateway without a harness",
        ),
        pytest.param([a_gateway(), a_filter(gateway=None), *REST], id="for all pods"),
        pytest.param(
            [a_gateway(), a_filter(selects={"app": "proxy"}), *REST], id="by another label"
        ),
        pytest.param([a_gateway(), a_filter(messages=[WARNING]), *REST], id="warnings are normal"),
        pytest.param(
            [a_gateway(), a_filter(gateway="old", deleted=NOON), *REST], id="being deleted"
        ),
        pytest.param(
            [a_gateway(), a_gateway("b", labels=None), a_filter(gateway="b"), *REST],
            id="for another Gateway that exists",
        ),
        pytest.param(
            [a_gateway(), a_filter(), *REST, a_filter("mine", "old", labels=None)],
            id="a filter of someone else",
        ),
    ],
)
def test_filters_that_catch_what_they_should_are_clear(objects):
    assert isinstance(verdict_of(REASON, *objects), Clear)


@pytest.mark.parametrize(
    ("objects", "deleted", "code", "kind", "text"),
    [
        pytest.param(
            [a_gateway(), *REST],
            [],
            "FilterNotFound",
            TroubleKind.DECLARED,
            f"EnvoyFilter {FIRST} does not exist",
            id="missing",
        ),
        pytest.param(
            [a_gateway(), *REST],
            [a_filter()],
            "FilterNotFound",
            TroubleKind.LOST,
            f"EnvoyFilter {FIRST} was deleted",
            id="deleted",
        ),
        pytest.param(
            [a_gateway(), a_filter(gateway="old-gw"), *REST],
            [],
            "SelectsNothing",
            TroubleKind.DECLARED,
            f'EnvoyFilter {FIRST} selects the pods of Gateway "old-gw", which does not exist,'
            " and none of team-a-gw",
            id="of a renamed Gateway",
        ),
        pytest.param(
            [a_gateway(), a_filter(), *REST, an_authz_filter(gateway="old-gw")],
            [],
            "SelectsNothing",
            TroubleKind.DECLARED,
            'EnvoyFilter apikey-ext-authz selects the pods of Gateway "old-gw", which does not'
            " exist, and none of team-a-gw",
            id="any filter of the harness",
        ),
        pytest.param(
            [a_gateway(), a_filter(messages=[WARNING, ERROR]), *REST],
            [],
            "Rejected",
            TroubleKind.FAILED,
            f"EnvoyFilter {FIRST} is rejected by Istio's analysis (IST0106 SchemaValidationError)",
            id="an error",
        ),
        pytest.param(
            [a_gateway(), a_filter(messages=[ERROR], observed="1"), *REST],
            [],
            "Rejected",
            TroubleKind.FAILED,
            f"EnvoyFilter {FIRST} is rejected by Istio's analysis (IST0106 SchemaValidationError)",
            id="a generation written as text",
        ),
        pytest.param(
            [a_gateway(), a_filter(messages=[ERROR], observed="new"), *REST],
            [],
            "Rejected",
            TroubleKind.FAILED,
            f"EnvoyFilter {FIRST} is rejected by Istio's analysis (IST0106 SchemaValidationError)",
            id="a generation that is no number",
        ),
    ],
)
def test_a_filter_that_is_wrong_or_gone_is_reported(objects, deleted, code, kind, text):
    verdict = verdict_of(REASON, *objects, deleted=deleted)
    trouble = only_trouble(verdict)
    assert (trouble.cause.code, trouble.kind) == (code, kind)
    assert rendered_troubles(verdict) == [text]


def test_each_filter_is_a_cause_of_its_own():
    verdict = verdict_of(REASON, a_gateway())
    assert [t.cause.object.name for t in verdict.troubles] == sorted(FILTERS)


@pytest.mark.parametrize("observed", [1, "1"], ids=["number", "text"])
def test_errors_of_an_older_spec_are_unknown(observed):
    made = a_filter(messages=[ERROR], observed=observed, generation=2)
    assert isinstance(verdict_of(REASON, a_gateway(), made, *REST), Unknown)


def test_without_the_crd_of_filters_the_catch_all_is_unknown():
    store = a_harness_store(a_gateway())
    store.set_watch_state(ENVOY_FILTERS, NotServed())
    assert isinstance(verdict_of(REASON, store=store), Unknown)


def test_a_catch_all_filter_that_cannot_be_decoded_is_unknown():
    store = a_harness_store(a_gateway(), *REST)
    store.mark_undecodable(ENVOY_FILTERS, TEAM, FIRST)
    assert isinstance(verdict_of(REASON, store=store), Unknown)
