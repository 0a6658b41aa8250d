"""
Who the policy that guards the model pods lets in.
"""

import pytest

from reporter.model.kinds import NETWORK_POLICIES
from reporter.model.mesh_objects import EndpointSelector, IngressRule, MatchExpression
from reporter.model.objects import Namespace, NamespaceStatus
from reporter.model.observations import Unserved
from reporter.model.verdicts import Clear, Unknown
from reporter.model.words import Kind
from tests.builders import NOON, a_deployment, a_namespace
from tests.harness_builders import (
    POD_NAMESPACE,
    TEAM,
    a_harness_store,
    a_policy,
    allowing,
    judged,
    labelled,
    metadata,
    only,
    said,
    told,
)


REASON = "modelharnessNetworkPolicyMisconfigured"
STOCK = ("keda", "kaito-system", "kube-system", "monitoring")
SCALER = "keda-kaito-scaler"
INVALID = said("Valid", "False", "", "invalid label")
EXISTS = MatchExpression(key=POD_NAMESPACE, operator="Exists")


def scaler(namespace="keda", name=SCALER):
    return a_deployment(name, namespace, labels={"app.kubernetes.io/name": SCALER})


def terminating(name):
    return Namespace(
        metadata=metadata(name, "", deleted=NOON), status=NamespaceStatus(phase="Terminating")
    )


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="switched off"),
        pytest.param([a_policy(allowing(*STOCK))], id="the stock list, though none exists"),
        pytest.param([a_policy(allowing("obs")), a_namespace("obs")], id="one that exists"),
        pytest.param([a_policy(allowing("obs")), terminating("obs")], id="one that terminates"),
        pytest.param([a_policy(allowing("typo"), deleted=NOON)], id="being deleted"),
        pytest.param([a_policy(labelled(**{"reserved:host": ""}))], id="something reserved"),
        pytest.param([a_policy(labelled(**{"k8s:app": "typo"}))], id="another label"),
        pytest.param([a_policy(valid=said("Valid"))], id="valid"),
        pytest.param([a_policy(allowing("keda")), scaler()], id="the scaler is let in"),
        pytest.param([a_policy(), scaler()], id="none is let in by name"),
        pytest.param([a_policy(allowing("keda")), scaler(TEAM)], id="the scaler is here"),
        pytest.param(
            [
                a_policy(allowing("keda"), EndpointSelector(match_expressions=(EXISTS,))),
                scaler("a"),
            ],
            id="every namespace is let in",
        ),
        pytest.param(
            [
                a_policy(rules=(IngressRule(from_endpoints=(allowing("keda"),)), IngressRule())),
                scaler("a"),
            ],
            id="let in by something else",
        ),
        pytest.param([a_policy(allowing("keda")), a_namespace("keda")], id="no scaler anywhere"),
    ],
)
def test_it_is_clear(objects):
    assert isinstance(judged(REASON, *objects), Clear)


@pytest.mark.parametrize(
    ("objects", "deleted", "code", "kind", "text"),
    [
        pytest.param(
            [a_policy(allowing("keda", "monitorng")), a_namespace("monitoring")],
            [],
            "NamespaceNotFound",
            Kind.DECLARED,
            'allows ingress from namespace "monitorng", which does not exist'
            ' (did you mean "monitoring"?)',
            id="typo",
        ),
        pytest.param(
            [a_policy(labelled(**{POD_NAMESPACE: "obs"}))],
            [],
            "NamespaceNotFound",
            Kind.DECLARED,
            'allows ingress from namespace "obs", which does not exist',
            id="by a label, unlike any other",
        ),
        pytest.param(
            [a_policy(labelled(**{"any:io.kubernetes.pod.namespace": "obs"}))],
            [],
            "NamespaceNotFound",
            Kind.DECLARED,
            'allows ingress from namespace "obs", which does not exist',
            id="of any source",
        ),
        pytest.param(
            [a_policy(allowing("obs"))],
            [a_namespace("obs")],
            "NamespaceNotFound",
            Kind.LOST,
            'allows ingress from namespace "obs", which was deleted',
            id="deleted",
        ),
        pytest.param(
            [a_policy(allowing("keda"), valid=INVALID)],
            [],
            "Invalid",
            Kind.FAILED,
            "is not valid (Cilium refuses it)",
            id="invalid",
        ),
        pytest.param(
            [a_policy(allowing("keda")), a_namespace("scaling"), scaler("scaling")],
            [],
            "ScalerNotAllowed",
            Kind.DECLARED,
            "does not let in namespace scaling, where keda-kaito-scaler runs",
            id="the scaler runs elsewhere",
        ),
    ],
)
def test_it_is_told(objects, deleted, code, kind, text):
    verdict = judged(REASON, *objects, deleted=deleted)
    trouble = only(verdict)
    assert (trouble.cause.code, trouble.kind) == (code, kind)
    assert told(verdict) == [f"CiliumNetworkPolicy inference-pods-ingress {text}"]


def test_what_cilium_says_is_passed_on_as_foreign():
    assert only(judged(REASON, a_policy(valid=INVALID))).foreign == "invalid label"


def test_each_name_is_a_cause_of_its_own_besides_the_policys():
    verdict = judged(REASON, a_policy(allowing("y", "x", "keda"), valid=INVALID))
    assert [(t.cause.object.name, t.cause.code) for t in verdict.troubles] == [
        ("inference-pods-ingress", "Invalid"),
        ("x", "NamespaceNotFound"),
        ("y", "NamespaceNotFound"),
    ]


def test_the_scaler_is_looked_for_by_the_flags():
    objects = a_policy(allowing("keda")), a_deployment("own", "scaling")
    flags = {"keda_scaler_deployment": "own", "keda_scaler_namespace": "scaling"}
    assert only(judged(REASON, *objects, **flags)).cause.code == "ScalerNotAllowed"


def test_without_cilium_there_is_nothing_to_judge():
    store = a_harness_store(a_policy(allowing("typo")))
    store.sight(NETWORK_POLICIES, Unserved())
    assert isinstance(judged(REASON, store=store), Clear)


def test_what_could_not_be_decoded_tells_nothing():
    store = a_harness_store(a_policy(allowing("keda")))
    store.spoil(NETWORK_POLICIES, TEAM, "inference-pods-ingress")
    assert isinstance(judged(REASON, store=store), Unknown)
