"""The verdicts about the CiliumNetworkPolicy of the model pods."""

import pytest

from reporter.kinds.cilium import (
    CILIUM_NETWORK_POLICIES,
    EndpointSelector,
    IngressRule,
    MatchExpression,
)
from reporter.kinds.core import Namespace
from reporter.model.enums import TroubleKind
from reporter.model.observations import NotServed
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import NOON, a_deployment, a_namespace, an_observed_condition
from tests.support.harness_builders import (
    POD_NAMESPACE,
    TEAM,
    a_harness_store,
    a_label_selector,
    a_namespace_in_selector,
    a_policy,
    metadata,
    rendered_troubles,
    verdict_of,
)
from tests.support.probe_verdicts import only_trouble


REASON = "modelharnessNetworkPolicyMisconfigured"
STOCK = ("keda", "kaito-system", "kube-system", "monitoring")
SCALER = "keda-kaito-scaler"
INVALID = an_observed_condition("Valid", "False", "", "invalid label")
EXISTS = MatchExpression(key=POD_NAMESPACE, operator="Exists")


def scaler(namespace="keda", name=SCALER):
    return a_deployment(name, namespace, labels={"app.kubernetes.io/name": SCALER})


def terminating(name):
    return Namespace(metadata=metadata(name, "", deleted=NOON))


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="switched off"),
        pytest.param(
            [a_policy(a_namespace_in_selector(*STOCK))], id="the stock list, though none exists"
        ),
        pytest.param(
            [a_policy(a_namespace_in_selector("obs")), a_namespace("obs")], id="one that exists"
        ),
        pytest.param(
            [a_policy(a_namespace_in_selector("obs")), terminating("obs")],
            id="one that terminates",
        ),
        pytest.param(
            [a_policy(a_namespace_in_selector("typo"), deleted=NOON)], id="being deleted"
        ),
        pytest.param(
            [a_policy(a_label_selector(**{"reserved:host": ""}))], id="something reserved"
        ),
        pytest.param([a_policy(a_label_selector(**{"k8s:app": "typo"}))], id="another label"),
        pytest.param([a_policy(valid=an_observed_condition("Valid"))], id="valid"),
        pytest.param(
            [a_policy(a_namespace_in_selector("keda")), scaler()], id="the scaler is let in"
        ),
        pytest.param([a_policy(), scaler()], id="none is let in by name"),
        pytest.param(
            [a_policy(a_namespace_in_selector("keda")), scaler(TEAM)], id="the scaler is here"
        ),
        pytest.param(
            [
                a_policy(
                    a_namespace_in_selector("keda"), EndpointSelector(match_expressions=(EXISTS,))
                ),
                scaler("a"),
            ],
            id="every namespace is let in",
        ),
        pytest.param(
            [
                a_policy(
                    rules=(
                        IngressRule(from_endpoints=(a_namespace_in_selector("keda"),)),
                        IngressRule(),
                    )
                ),
                scaler("a"),
            ],
            id="let in by something else",
        ),
        pytest.param(
            [a_policy(a_namespace_in_selector("keda")), a_namespace("keda")],
            id="no scaler anywhere",
        ),
    ],
)
def test_a_network_policy_that_lets_requests_through_is_clear(objects):
    assert isinstance(verdict_of(REASON, *objects), Clear)


@pytest.mark.parametrize(
    ("objects", "deleted", "code", "kind", "text"),
    [
        pytest.param(
            [a_policy(a_namespace_in_selector("keda", "monitorng")), a_namespace("monitoring")],
            [],
            "NamespaceNotFound",
            TroubleKind.DECLARED,
            'allows ingress from namespace "monitorng", which does not exist'
            ' (did you mean "monitoring"?)',
            id="typo",
        ),
        pytest.param(
            [a_policy(a_label_selector(**{POD_NAMESPACE: "obs"}))],
            [],
            "NamespaceNotFound",
            TroubleKind.DECLARED,
            'allows ingress from namespace "obs", which does not exist',
            id="by a label, unlike any other",
        ),
        pytest.param(
            [a_policy(a_label_selector(**{"any:io.kubernetes.pod.namespace": "obs"}))],
            [],
            "NamespaceNotFound",
            TroubleKind.DECLARED,
            'allows ingress from namespace "obs", which does not exist',
            id="of any source",
        ),
        pytest.param(
            [a_policy(a_namespace_in_selector("obs"))],
            [a_namespace("obs")],
            "NamespaceNotFound",
            TroubleKind.LOST,
            'allows ingress from namespace "obs", which was deleted',
            id="deleted",
        ),
        pytest.param(
            [a_policy(a_namespace_in_selector("keda"), valid=INVALID)],
            [],
            "Invalid",
            TroubleKind.FAILED,
            "is not valid (Cilium refuses it)",
            id="invalid",
        ),
        pytest.param(
            [a_policy(a_namespace_in_selector("keda")), a_namespace("scaling"), scaler("scaling")],
            [],
            "ScalerNotAllowed",
            TroubleKind.DECLARED,
            "does not let in namespace scaling, where keda-kaito-scaler runs",
            id="the scaler runs elsewhere",
        ),
    ],
)
def test_a_network_policy_that_keeps_requests_out_is_reported(objects, deleted, code, kind, text):
    verdict = verdict_of(REASON, *objects, deleted=deleted)
    trouble = only_trouble(verdict)
    assert (trouble.cause.code, trouble.kind) == (code, kind)
    assert rendered_troubles(verdict) == [f"CiliumNetworkPolicy inference-pods-ingress {text}"]


def test_ciliums_message_is_passed_on_as_foreign():
    assert (
        only_trouble(verdict_of(REASON, a_policy(valid=INVALID))).foreign_text == "invalid label"
    )


def test_each_name_is_a_cause_of_its_own_besides_that_of_the_policy():
    verdict = verdict_of(
        REASON, a_policy(a_namespace_in_selector("y", "x", "keda"), valid=INVALID)
    )
    assert [(t.cause.object.name, t.cause.code) for t in verdict.troubles] == [
        ("inference-pods-ingress", "Invalid"),
        ("x", "NamespaceNotFound"),
        ("y", "NamespaceNotFound"),
    ]


def test_the_scaler_is_located_by_the_flags():
    objects = a_policy(a_namespace_in_selector("keda")), a_deployment("own", "scaling")
    flags = {"keda_scaler_deployment": "own", "keda_scaler_namespace": "scaling"}
    assert only_trouble(verdict_of(REASON, *objects, **flags)).cause.code == "ScalerNotAllowed"


def test_without_cilium_there_is_nothing_to_judge():
    store = a_harness_store(a_policy(a_namespace_in_selector("typo")))
    store.set_watch_state(CILIUM_NETWORK_POLICIES, NotServed())
    assert isinstance(verdict_of(REASON, store=store), Clear)


def test_a_network_policy_that_cannot_be_decoded_is_unknown():
    store = a_harness_store(a_policy(a_namespace_in_selector("keda")))
    store.mark_undecodable(CILIUM_NETWORK_POLICIES, TEAM, "inference-pods-ingress")
    assert isinstance(verdict_of(REASON, store=store), Unknown)
