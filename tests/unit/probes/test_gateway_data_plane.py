"""The verdicts about a Gateway's proxies."""

import pytest

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.gateway_api import GATEWAYS
from reporter.model.enums import TroubleKind
from reporter.model.observations import NotServed
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import LONG_AGO, NOON, a_deployment, a_pod, an_observed_condition
from tests.support.harness_builders import (
    ACCEPTED,
    DATA_PLANE,
    DEFAULT_CONDITIONS,
    GATEWAY,
    GATEWAY_LABEL,
    TEAM,
    a_class,
    a_data_plane,
    a_gateway,
    a_harness_store,
    rendered_troubles,
    verdict_of,
)
from tests.support.probe_verdicts import only_trouble


REASON = "modelharnessGatewayDataPlaneNotReady"
UNASSIGNED = an_observed_condition(
    "Programmed", "False", "AddressNotAssigned", "no instances found for hostname"
)
AZURE = "istio.aks.azure.com/gateway-controller"
OLD = {"created_at": LONG_AGO}


def proxy(name="team-a-gw-istio-7d-x2", **changes):
    return a_pod(name, TEAM, workload=DATA_PLANE, **changes)


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([a_gateway(), a_data_plane()], id="running"),
        pytest.param([a_gateway(), a_data_plane("edge")], id="found by label, not by name"),
        pytest.param(
            [a_gateway(), a_data_plane(), a_data_plane("old", replicas=0)],
            id="left over at zero beside one that runs",
        ),
        pytest.param([a_gateway(GATEWAY, *DEFAULT_CONDITIONS)], id="none while nobody took it on"),
        pytest.param([a_gateway(addresses=("own",))], id="deployed by hand"),
        pytest.param(
            [a_gateway(class_name="envoy"), a_class("envoy", controller="example.org/gateways")],
            id="by a controller that makes none here",
        ),
        pytest.param([a_gateway(class_name="envoy")], id="of a class that is not there"),
        pytest.param([a_gateway(deleted=NOON)], id="Gateway being deleted"),
        pytest.param(
            [a_gateway(), a_data_plane(ready=0, deleted=NOON)], id="Deployment being deleted"
        ),
        pytest.param(
            [
                a_gateway(),
                a_data_plane(),
                proxy("team-a-gw-istio-7d-gone", ready=False, deleted=NOON),
                proxy(
                    "team-a-gw-istio-7d-left", ready=False, phase="Failed", reason="Evicted", **OLD
                ),
            ],
            id="pods on their way out or left behind",
        ),
        pytest.param(
            [a_gateway("mine", labels=None), a_gateway(), a_data_plane()],
            id="a Gateway that is not the harness's",
        ),
    ],
)
def test_a_data_plane_that_serves_is_clear(objects):
    assert isinstance(verdict_of(REASON, *objects), Clear)


def test_scaled_to_zero():
    verdict = verdict_of(REASON, a_gateway(), a_data_plane(replicas=0))
    assert rendered_troubles(verdict) == [
        (
            "Gateway team-a-gw: its data plane Deployment team-a/team-a-gw-istio"
            " is scaled to zero replicas"
        )
    ]
    trouble = only_trouble(verdict)
    assert (trouble.cause.code, trouble.kind, trouble.is_out) == (
        "ScaledToZero",
        TroubleKind.DECLARED,
        True,
    )


def test_the_cause_comes_from_its_pods():
    broken = proxy(ready=False, waiting="ImagePullBackOff", message="no such image")
    verdict = verdict_of(REASON, a_gateway(), a_data_plane(ready=0), broken)
    assert rendered_troubles(verdict) == [
        (
            "Gateway team-a-gw: its data plane Deployment team-a/team-a-gw-istio"
            " is unavailable: 0/1 replicas ready; pod team-a-gw-istio-7d-x2 ImagePullBackOff"
        )
    ]
    trouble = only_trouble(verdict)
    assert (trouble.kind, trouble.is_out, trouble.foreign_text) == (
        TroubleKind.FAILED,
        True,
        "no such image",
    )


def test_a_part_of_its_proxies_is_no_outage():
    trouble = only_trouble(verdict_of(REASON, a_gateway(), a_data_plane(replicas=2, ready=1)))
    assert (trouble.cause.code, trouble.is_out) == ("Degraded", False)


def test_proxies_that_a_scale_up_adds_are_starting():
    scaling = [("Progressing", "True", "ReplicaSetUpdated")]
    plane = a_data_plane(replicas=3, ready=2, conditions=scaling)
    assert only_trouble(verdict_of(REASON, a_gateway(), plane)).kind is TroubleKind.STARTING


def test_a_data_plane_is_evaluated_though_istio_calls_its_gateway_not_programmed():
    gateway = a_gateway(GATEWAY, ACCEPTED, UNASSIGNED)
    assert only_trouble(verdict_of(REASON, gateway, a_data_plane(ready=0))).is_out


def test_one_of_two_deployments_that_fails_is_reported_and_is_no_outage():
    verdict = verdict_of(REASON, a_gateway(), a_data_plane("a"), a_data_plane("b", ready=0))
    trouble = only_trouble(verdict)
    assert (trouble.cause.object.name, trouble.is_out) == ("b", False)


def test_all_of_its_deployments_that_fail_are_an_outage():
    planes = a_data_plane("b", replicas=0), a_data_plane("a", replicas=0)
    verdict = verdict_of(REASON, a_gateway(), *planes)
    assert [(t.cause.object.name, t.is_out) for t in verdict.troubles] == [
        ("a", True),
        ("b", True),
    ]


@pytest.mark.parametrize(
    "objects",
    [
        [a_gateway()],
        [a_gateway(class_name="other"), a_class("other")],
        [a_gateway(class_name="approuting-istio"), a_class("approuting-istio", controller=AZURE)],
    ],
    ids=["builtin class", "by its controller", "the add-on's class"],
)
def test_a_data_plane_that_was_never_made_is_awaited(objects):
    trouble = only_trouble(verdict_of(REASON, *objects))
    assert (trouble.cause.code, trouble.kind, trouble.is_out) == (
        "NotFound",
        TroubleKind.STARTING,
        True,
    )
    assert trouble.since == LONG_AGO


@pytest.mark.parametrize("addresses", [(), ("10.0.4.7",)])
def test_a_data_plane_that_was_there_and_is_deleted_is_lost(addresses):
    verdict = verdict_of(REASON, a_gateway(addresses=addresses), deleted=[a_data_plane()])
    trouble = only_trouble(verdict)
    assert (trouble.cause.code, trouble.kind, trouble.is_out) == (
        "Deleted",
        TroubleKind.LOST,
        True,
    )
    assert rendered_troubles(verdict) == [
        "Gateway team-a-gw: its data plane Deployment team-a/team-a-gw-istio was deleted"
    ]


def test_deployments_of_other_namespaces_and_gateways_do_not_count():
    elsewhere = a_deployment(DATA_PLANE, "team-b", labels={GATEWAY_LABEL: GATEWAY})
    other = a_data_plane("other", gateway="other")
    assert only_trouble(verdict_of(REASON, a_gateway(), elsewhere, other)).cause.code == "NotFound"


@pytest.mark.parametrize(
    "objects",
    [
        [a_gateway(), a_data_plane(ready=0, generation=2)],
        [a_gateway(GATEWAY, an_observed_condition("Accepted"), generation=2)],
    ],
    ids=["the Deployment's", "the Gateway's"],
)
def test_a_status_of_a_data_plane_older_than_its_spec_is_unknown(objects):
    assert isinstance(verdict_of(REASON, *objects), Unknown)


def test_a_data_plane_that_cannot_be_decoded_is_unknown():
    store = a_harness_store(a_gateway(), a_data_plane())
    store.mark_undecodable(DEPLOYMENTS, TEAM, DATA_PLANE)
    assert isinstance(verdict_of(REASON, store=store), Unknown)


def test_without_the_crd_of_gateways_their_data_plane_is_unknown():
    store = a_harness_store(a_gateway(), a_data_plane(ready=0))
    store.set_watch_state(GATEWAYS, NotServed())
    assert isinstance(verdict_of(REASON, store=store), Unknown)


def test_proxies_that_were_deleted_need_no_current_word_of_the_controller():
    verdict = verdict_of(REASON, a_gateway(generation=2), deleted=[a_data_plane()])
    assert only_trouble(verdict).cause.code == "Deleted"


def test_proxies_that_fail_are_no_outage_while_others_may_serve():
    old, failing = a_data_plane("a", generation=2), a_data_plane("b", ready=0)
    verdict = verdict_of(REASON, a_gateway(), old, failing)
    assert not only_trouble(verdict).is_out
    assert verdict.why_partial == "status of Deployment team-a/a is older than its spec"


def test_out_and_degraded_differ_in_code_and_in_the_first_words():
    out = verdict_of(REASON, a_gateway(), a_data_plane(replicas=2, ready=0))
    part = verdict_of(REASON, a_gateway(), a_data_plane(replicas=2, ready=1))
    other = verdict_of(REASON, a_gateway(), a_data_plane("a"), a_data_plane("b", ready=0))
    beginning = "Gateway team-a-gw: its data plane"
    assert rendered_troubles(out) == [
        f"{beginning} Deployment team-a/team-a-gw-istio is unavailable: 0/2 replicas ready"
    ]
    assert rendered_troubles(part) == [
        f"{beginning} Deployment team-a/team-a-gw-istio is degraded: 1/2 replicas ready"
    ]
    assert rendered_troubles(other) == [
        f"{beginning} is degraded: Deployment team-a/b is unavailable: 0/1 replicas ready"
    ]
    assert only_trouble(out).cause.code == "Unavailable"
    assert only_trouble(part).cause.code == only_trouble(other).cause.code == "Degraded"
