from datetime import timedelta

import pytest

from reporter.catalogue.problems import Problem
from reporter.catalogue.yaml_nodes import compose
from reporter.model.enums import Layer
from tests.support.cases import case_catalogue
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


def test_a_reason_can_be_disabled(loading):
    catalogue = loading(overlay="reasons: { clusterScalerNotReady: { enabled: false } }")
    assert not catalogue["clusterScalerNotReady"].is_evaluated
    assert catalogue["clusterRouterNotReady"].is_evaluated


def test_hold_and_parameters_change_by_key_and_the_rest_stays(loading):
    catalogue = loading(
        overlay="reasons:\n"
        "  clusterRouterNotReady: { rank: 25, parameters: { sizes: [7] } }\n"
        "  clusterScalerNotReady: { hold: { starting: 1h30m }, settle: 0s, window: 2m }\n"
    )
    router, scaler = catalogue["clusterRouterNotReady"], catalogue["clusterScalerNotReady"]
    assert router.rank == 25
    assert (router.parameters.name_flag, router.parameters.sizes) == ("router-deployment", (7,))
    assert scaler.holds.lost == timedelta(minutes=1)
    assert scaler.holds.starting == timedelta(minutes=90)
    assert (scaler.settle, scaler.window) == (timedelta(0), timedelta(minutes=2))


def test_severities_change_one_by_one_and_may_be_any_word(loading):
    given = loading()["clusterRouterNotReady"]
    assert (given.severity, given.severity_while_out) == ("warning", "")
    overlay = "reasons: { clusterRouterNotReady: { severity-while-out: P1 } }"
    changed = loading(overlay=overlay)["clusterRouterNotReady"]
    assert (changed.severity, changed.severity_while_out) == ("warning", "P1")
    overlay = "reasons: { clusterRouterNotReady: { severity: none } }"
    changed = loading(overlay=overlay)["clusterRouterNotReady"]
    assert (changed.severity, changed.severity_while_out) == ("none", "")


def test_a_hold_may_be_given_where_the_catalogue_has_none(loading):
    overlay = "reasons: { clusterRouterNotReady: { hold: { failed: 1m } } }"
    assert loading(overlay=overlay)["clusterRouterNotReady"].holds.failed == timedelta(minutes=1)


def test_a_reason_can_be_added(loading):
    catalogue = loading(
        overlay="add:\n  - reason: clusterMeshNotReady\n    layer: cluster\n    type: Warning\n"
        "    owner: user\n    rank: 15\n    probe: things\n    message: '{object} {state}.'\n"
        "    remedy: { default: Mend it. }\n"
    )
    assert [e.reason for e in catalogue.evaluated_entries(Layer.CLUSTER)] == [
        "clusterRouterNotReady",
        "clusterMeshNotReady",
        "clusterScalerNotReady",
    ]


def test_an_empty_overlay_changes_nothing(loading):
    assert loading(overlay="# nothing yet\n") == loading()


@pytest.mark.parametrize(
    ("overlay", "expected"),
    [
        pytest.param(
            "reasons:\n  clusterRuterNotReady: { enabled: false }\n",
            "over.overlay:2: unknown reason `clusterRuterNotReady`: "
            "did you mean `clusterRouterNotReady`?",
            id="an unknown reason",
        ),
        pytest.param(
            "reasons:\n  clusterRouterNotReady:\n    message: Other.\n",
            "over.overlay:3: clusterRouterNotReady: unknown key `message`: "
            "known are does-not-suppress, enabled, hold, on-path-of, parameters, rank, settle, severity, "
            "severity-while-out, window",
            id="a key that it may not change",
        ),
        pytest.param(
            "reasons:\n  clusterRouterNotReady:\n    rank: 20\n",
            "over.overlay:3: clusterRouterNotReady: rank 20 is taken by clusterScalerNotReady",
            id="a rank that is taken",
        ),
        pytest.param(
            "reasons:\n  inferencesetSlow:\n    rank: 5\n",
            "over.overlay:3: inferencesetSlow: has a rank and is orthogonal",
            id="a rank for an orthogonal reason",
        ),
        pytest.param(
            "reasons:\n  clusterRouterNotReady:\n    parameters:\n      sizes: many\n",
            "over.overlay:4: clusterRouterNotReady: parameters: `sizes` is `many`; "
            "it must be a list",
            id="a wrong parameter",
        ),
        pytest.param(
            "reasons:\n  clusterRouterNotReady:\n    parameters: { name-flag: nothing }\n",
            "over.overlay:3: clusterRouterNotReady: parameters: name-flag: unknown flag `nothing`",
            id="an unknown flag",
        ),
        pytest.param(
            "reasons:\n  clusterRouterNotReady:\n    settle: soon\n",
            "over.overlay:3: clusterRouterNotReady: `settle` is `soon`; it must be a duration",
            id="a wrong duration",
        ),
        pytest.param(
            "reasons:\n  clusterReady: { enabled: false }\n",
            "over.overlay:2: clusterReady: it ends the episodes of its layer",
            id="a Ready switched off",
        ),
        pytest.param(
            "resons: {}\n",
            "over.overlay:1: unknown key `resons`: did you mean `reasons`?",
            id="an unknown part",
        ),
        pytest.param(
            "- a\n",
            "over.overlay:1: this is a list; it must be a mapping with the keys reasons, add",
            id="a list",
        ),
        pytest.param(
            "add:\n  - reason: clusterMeshNotReady\n",
            "over.overlay:2: `layer` is missing: the layer that it belongs to",
            id="an added reason that is not whole",
        ),
    ],
)
def test_errors_name_the_line_of_the_overlay(refused, overlay, expected):
    problems = refused(overlay=overlay)
    assert any(problem.startswith(expected) for problem in problems), problems


def test_an_error_of_an_overlay_is_reported_once(refused):
    assert len(refused(overlay="reasons:\n  clusterRouterNotReady: { settle: soon }\n")) == 1


def test_an_overlay_that_cannot_be_read_is_refused(loading, tmp_path):
    problems: list[Problem] = []
    assert compose(tmp_path / "none.yaml", problems) is None
    assert str(problems[0]).endswith("none.yaml:1: cannot be read: No such file or directory")


def test_one_suppression_can_be_switched_off(loading):
    overlay = (
        "reasons: { clusterRouterNotReady: { does-not-suppress: [modelharnessGateNotReady] } }"
    )
    (row,) = loading(overlay=overlay).suppressions
    assert (row.source, row.target, row.enabled) == (
        "clusterRouterNotReady",
        "modelharnessGateNotReady",
        False,
    )
    assert all(each.enabled for each in loading().suppressions)


def test_the_suppression_by_a_missing_crd_can_be_switched_off():
    overlay = {"reasons": {"clusterCRDMissing": {"does-not-suppress": ["crd-of"]}}}
    assert not case_catalogue({"overlay": overlay}).is_missing_crd_enabled
    assert DEFAULT_CATALOGUE.is_missing_crd_enabled


def test_a_suppression_that_there_is_not_is_refused_with_its_line(refused):
    overlay = "reasons:\n  clusterRouterNotReady:\n    does-not-suppress:\n    - modelharnessGatNotReady\n"
    (problem,) = refused(overlay=overlay)
    assert problem == (
        "over.overlay:4: clusterRouterNotReady does not suppress `modelharnessGatNotReady`: did you"
        " mean `modelharnessGateNotReady`?"
    )
