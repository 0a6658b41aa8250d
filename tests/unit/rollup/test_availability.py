"""Availability: what hinders the requests of a model, whatever its own state."""

import pytest
from msgspec.structs import replace

from reporter.kinds.istio import AUTHORIZATION_POLICIES, ENVOY_FILTERS
from reporter.kinds.objects import Metadata
from reporter.model.states import Actionability
from reporter.rollup.availability import hindered_subjects
from reporter.rollup.fold import fold
from tests.support.rollups import FULLY_REPORTED, stack_after, view_of


BBR = "Deployment kaito-system/body-based-router"
AUTHZ = "Deployment llm-gateway-auth/apikey-authz"
OPERATOR = "Deployment llm-gateway-auth/apikey-operator"
AT_ZERO = {"replicas": 0}
ASKED = {
    "EnvoyFilter team-m/apikey-ext-authz": {
        "spec": {
            "configPatches": [
                {"cluster_name": "outbound|9001||apikey-authz.llm-gateway-auth.svc.cluster.local"}
            ]
        }
    }
}
"""The filter of a namespace whose Gateway asks for API keys."""

SCALED_TO_ZERO = {
    "InferenceSet team-m/qwen": {"spec": {"replicas": 0}},
    "Workspace team-m/qwen-7rk2p": None,
    "Pod team-m/qwen-7rk2p-0": None,
}

CHECK = {
    "metadata": {
        "labels": {
            "reporter.productionstack.kaito.sh/check": "smoke",
            "kaito.sh/inferenceset": "qwen",
        },
        "annotations": {
            "reporter.productionstack.kaito.sh/asks-model": "true",
            "reporter.productionstack.kaito.sh/max-age": "30m",
        },
    }
}


def qwen(change=None, **step):
    """Return team-m/qwen after a change at 1 s, as the status shows it."""
    return view_of(stack_after(change, **step)).inference_set("team-m", "qwen")


def test_all_is_well_and_nothing_is_to_blame():
    found = qwen()
    assert (found.available, found.not_available) == (True, None)


OUT = [
    # change, reason, code, who must act
    ({BBR: AT_ZERO}, "clusterBBRNotReady", "ScaledToZero", Actionability.PLATFORM),
    ({BBR: None}, "clusterBBRNotReady", "Deleted", Actionability.PLATFORM),
    ({AUTHZ: AT_ZERO, **ASKED}, "clusterGatewayAuthNotReady", "ScaledToZero", "platform"),
    (
        {"Gateway team-m/team-m-gw": None},
        "modelharnessGatewayClassMissing",
        "Deleted",
        "platform",
    ),
    (
        {"Deployment team-m/qwen-inferencepool-epp": AT_ZERO},
        "inferencesetEPPNotReady",
        "ScaledToZero",
        "user",
    ),
    # Two are out: what is upstream of all is named.
    (
        {BBR: AT_ZERO, "Deployment team-m/qwen-inferencepool-epp": AT_ZERO},
        "clusterBBRNotReady",
        "ScaledToZero",
        "platform",
    ),
]


@pytest.mark.parametrize(("change", "reason", "code", "acts"), OUT)
def test_what_is_out_on_the_path_makes_a_model_unavailable(change, reason, code, acts):
    found = qwen(change)
    cause = found.not_available
    assert found.available is False
    assert (cause.reason, cause.code, cause.actionability) == (reason, code, acts)
    assert cause.message


QUIET = [
    # Nothing asks it for a key in this namespace.
    {AUTHZ: AT_ZERO},
    # It makes keys, and is asked by no request.
    {OPERATOR: AT_ZERO, **ASKED},
    {"Deployment keda/keda-operator": AT_ZERO},
    {"Deployment istio-system/istiod": AT_ZERO},
    # One of two works.
    {BBR: {"ready": 1}},
    {"EnvoyFilter team-m/model-not-found-direct": None},
]


@pytest.mark.parametrize("change", QUIET)
def test_what_no_request_needs_leaves_a_model_available(change):
    found = qwen(change)
    assert (found.available, found.not_available) == (True, None)


def test_the_text_is_about_what_requests_need_alone():
    found = qwen({AUTHZ: AT_ZERO, OPERATOR: AT_ZERO, **ASKED})
    assert "apikey-authz" in found.not_available.message
    assert "apikey-operator" not in found.not_available.message


def test_a_component_that_was_never_seen_makes_availability_unknown():
    found = qwen(given={BBR: None})
    assert found.available is None
    assert (found.not_available.reason, found.not_available.code) == (
        "clusterBBRNotReady",
        "NotFound",
    )


def test_a_component_that_cannot_be_read_makes_availability_unknown():
    found = qwen(watch={"deployments": "lost"}, until="2m")
    assert found.available is None
    assert found.not_available.message


def test_the_filters_of_a_namespace_that_cannot_be_read_leave_open_whether_they_ask():
    found = qwen({AUTHZ: AT_ZERO}, watch={"envoyfilters": "forbidden"}, until="2m")
    assert found.available is None


ISTIO = {"sources": "istio"}
POLICIES = {"crds": {"authorizationpolicies.security.istio.io": ["v1"]}}
UNREAD = {"watch": {"authorizationpolicies": "forbidden"}, "until": "2m"}


def test_policies_that_cannot_be_read_leave_open_whether_they_ask():
    found = qwen({AUTHZ: AT_ZERO}, flags=ISTIO, **POLICIES, **UNREAD)
    assert found.available is None


def test_a_filter_that_asks_is_known_whatever_policies_do():
    found = qwen({AUTHZ: AT_ZERO, **ASKED}, flags=ISTIO, **POLICIES, **UNREAD)
    assert (found.available, found.not_available.code) == (False, "ScaledToZero")
    policy = {
        "AuthorizationPolicy team-m/apikey": {
            "spec": {"action": "CUSTOM", "provider": {"name": "apikey-authz"}}
        }
    }
    assert qwen({AUTHZ: AT_ZERO, **policy}, flags=ISTIO, **POLICIES).available is None
    found = qwen({AUTHZ: AT_ZERO, **policy, **ASKED}, flags=ISTIO, **POLICIES)
    assert found.available is False


@pytest.mark.parametrize("step", [{}, {"watch": {"authorizationpolicies": "unserved"}}])
def test_policies_that_are_not_served_or_not_read_on_purpose_ask_for_nothing(step):
    assert qwen({AUTHZ: AT_ZERO}, flags=ISTIO if step else {}, **step, until="2m").available


@pytest.mark.parametrize("kind", [AUTHORIZATION_POLICIES, ENVOY_FILTERS])
@pytest.mark.parametrize(("namespace", "available"), [("team-m", None), ("team-a", True)])
def test_a_filter_or_policy_that_cannot_be_decoded_leaves_open_whether_it_asks(
    kind, namespace, available
):
    replay = stack_after({AUTHZ: AT_ZERO}, flags=ISTIO, **POLICIES)
    stub = kind.type(metadata=Metadata(name="odd", namespace=namespace))
    replay.store.mark_undecodable(kind, namespace, "odd", stub)
    found = view_of(replay.run_pass()).inference_set("team-m", "qwen")
    assert found.available is available


def test_scaled_to_zero_on_purpose_is_not_available_and_no_trouble():
    found = qwen(SCALED_TO_ZERO)
    assert found.available is False
    assert found.not_available.is_intended


def test_what_is_out_hinders_no_model_that_is_scaled_to_zero_on_purpose():
    assert qwen({**SCALED_TO_ZERO, BBR: AT_ZERO}).not_available.is_intended


def test_a_model_that_was_never_routed_is_not_blamed_on_its_gateway():
    found = qwen({"Gateway team-m/team-m-gw": None}, given={"HTTPRoute team-m/qwen-route": None})
    assert found.not_available.is_intended


def test_a_gateway_that_no_route_of_a_model_names_hinders_it_not():
    labels = {"labels": {"kaito.sh/owned-by": "modelharness"}}
    other = {"metadata": labels, "spec": {"gatewayClassName": "nosuch"}}
    found = qwen({"Gateway team-m/another-gw": other})
    assert (found.available, found.not_available) == (True, None)


# ---------------------------------------------------------------- Gateways of other namespaces

OTHER = {"name": "team-a-gw", "namespace": "team-a"}
OWN = {"name": "team-m-gw"}
PROXY_OUT = {"Deployment team-a/team-a-gw-istio": AT_ZERO}
UNLABELLED = {
    "Namespace team-a": {"metadata": {"labels": {"productionstack.kaito.sh/managed-by": None}}}
}


def routed(*parents):
    """Return a route of team-m/qwen that these Gateways have accepted."""
    conditions = [
        {"type": each, "status": "True", "reason": each, "observedGeneration": 1}
        for each in ("Accepted", "ResolvedRefs")
    ]
    controller = "istio.io/gateway-controller"
    return {
        "HTTPRoute team-m/qwen-route": {
            "spec": {"parentRefs": list(parents)},
            "status": {
                "parents": [
                    {"parentRef": each, "controllerName": controller, "conditions": conditions}
                    for each in parents
                ]
            },
        }
    }


def test_a_gateway_of_another_namespace_is_named_and_hinders_nothing_while_it_works():
    found = qwen(given=routed(OTHER))
    assert (found.available, found.gateways) == (True, ("team-a/team-a-gw",))


def test_a_gateway_of_another_namespace_is_on_the_path():
    found = qwen(PROXY_OUT, given=routed(OTHER))
    assert found.available is False
    assert found.not_available.reason == "modelharnessGatewayDataPlaneNotReady"
    assert found.not_available.object == "deployments.apps team-a/team-a-gw-istio"


def test_the_gateway_of_its_own_namespace_is_not_on_the_path_of_a_model_that_uses_another():
    found = qwen({"Deployment team-m/team-m-gw-istio": AT_ZERO}, given=routed(OTHER))
    assert found.available is True


def test_the_filters_of_the_gateway_s_namespace_decide_who_asks_for_a_key():
    assert qwen({AUTHZ: AT_ZERO, **ASKED}, given=routed(OTHER)).available is True
    (asking,) = ASKED.values()
    asked_there = {"EnvoyFilter team-a/apikey-ext-authz": asking}
    assert qwen({AUTHZ: AT_ZERO, **asked_there}, given=routed(OTHER)).available is False


def test_one_of_several_gateways_that_works_suffices():
    given = routed(OWN, OTHER)
    assert qwen(PROXY_OUT, given=given).available is True
    both = {**PROXY_OUT, "Deployment team-m/team-m-gw-istio": AT_ZERO}
    assert qwen(both, given=given).available is False


def test_a_gateway_in_a_namespace_that_nobody_evaluates_leaves_availability_unknown():
    found = qwen(given={**routed(OTHER), **UNLABELLED})
    assert (found.available, found.not_available.code) == (None, "GatewayNotEvaluated")
    assert "team-a has not the label" in found.not_available.message
    assert found.not_available.object == "gateways.gateway.networking.k8s.io team-a/team-a-gw"


@pytest.mark.parametrize("label", ["modelharness", None])
def test_a_gateway_that_comes_to_be_evaluated_is_seen_in_a_fold_of_what_changed_alone(label):
    labels = UNLABELLED if label else {}
    replay = stack_after(given={**routed(OTHER), **labels})
    before = replay.rollup
    managed_by = {"metadata": {"labels": {"productionstack.kaito.sh/managed-by": label}}}
    replay._change({"Namespace team-a": managed_by}, now=replay.now)
    given = replay.run_pass().rollup_input()
    after = fold(before, replace(given, evaluated=frozenset()), replay.rollup_rules)
    found = [each.namespaces["team-m"].sets["qwen"].available for each in (before, after)]
    assert found == ([None, True] if label else [True, None])


def test_a_gateway_whose_namespace_is_being_deleted_is_evaluated_no_longer():
    replay = stack_after(given=routed(OTHER))
    before = replay.rollup
    ending = {"metadata": {"deletionTimestamp": "now"}, "status": {"phase": "Terminating"}}
    replay._change({"Namespace team-a": ending}, now=replay.now)
    given = replay.run_pass().rollup_input()
    folds = (
        fold(before, replace(given, evaluated=evaluated), replay.rollup_rules)
        for evaluated in (frozenset(), given.evaluated)
    )
    found = [each.namespaces["team-m"].sets["qwen"].available for each in (before, *folds)]
    assert found == [True, None, None]


def test_what_is_out_is_named_before_a_gateway_that_nobody_evaluates():
    found = qwen({BBR: AT_ZERO}, given={**routed(OTHER), **UNLABELLED})
    assert (found.available, found.not_available.reason) == (False, "clusterBBRNotReady")


def test_a_finding_about_a_gateway_touches_the_models_of_other_namespaces():
    replay = stack_after(PROXY_OUT, given=routed(OTHER))
    evaluation = replay.rollup.evaluation
    keys = {key for key in evaluation.tracked.finding_states if key.subject.namespace == "team-a"}
    touched = hindered_subjects(
        keys, evaluation.subjects, replay.rollup_rules, replay.rollup_input().snapshot
    )
    assert "team-m/qwen" in {f"{each.namespace}/{each.name}" for each in touched}


def test_only_the_filter_that_reads_the_name_of_the_model_is_on_its_path():
    rejected = {"status": {"conditions": [{"type": "Reconciled", "status": "False"}]}}
    assert qwen({"EnvoyFilter team-m/model-not-found-direct": rejected}).available is True
    assert qwen({"EnvoyFilter team-m/bbr-ext-proc": None}).available is False


def test_namespace_and_cluster_count_models_that_are_not_available():
    view = view_of(stack_after({BBR: AT_ZERO}))
    assert view.namespace("team-m").available_counts.unavailable == 1
    counts = view.cluster().counts.available
    assert (counts.available, counts.unavailable, counts.unknown) == (0, 1, 0)


def test_a_filter_that_begins_to_ask_is_seen_in_a_fold_of_what_changed_alone():
    replay = stack_after({AUTHZ: AT_ZERO})
    before = replay.rollup
    replay._change(ASKED, now=replay.now)
    given = replay.rollup_input()
    after = fold(before, replace(given, evaluated=frozenset()), replay.rollup_rules)
    assert before.namespaces["team-m"].sets["qwen"].available is True
    assert after.namespaces["team-m"].sets["qwen"].available is False


# ---------------------------------------------------------------- checks that ask the model


def checked(status: str, *, until: str = "2m", asks: str = "true", change=None, **meta):
    condition = {
        "type": "Available",
        "status": status,
        "reason": "NoAnswer" if status == "False" else "Answered",
        "message": "the Gateway answered 503",
        "lastTransitionTime": "now",
    }
    job = {
        "metadata": {
            **CHECK["metadata"],
            **meta,
            "annotations": {
                **CHECK["metadata"]["annotations"],
                "reporter.productionstack.kaito.sh/asks-model": asks,
            },
        },
        "status": {"conditions": [condition]},
    }
    return view_of(
        stack_after(
            {"Job team-m/smoke-1": job, **(change or {})},
            given=FULLY_REPORTED,
            flags={"sources": "jobs"},
            until=until,
        )
    ).inference_set("team-m", "qwen")


def test_a_check_that_got_no_answer_makes_a_model_unavailable_with_its_words():
    found = checked("False")
    assert found.state == "Current"
    assert (found.available, found.not_available.reason) == (False, "inferencesetCheckFailed")
    assert "503" in found.not_available.message


def test_a_check_of_something_else_does_not():
    assert checked("False", asks="false").available is True


def test_what_is_known_to_be_out_is_named_before_the_check_that_found_it():
    assert checked("False", change={BBR: AT_ZERO}).not_available.reason == "clusterBBRNotReady"


def test_an_answer_is_named_with_its_age_until_it_is_too_old():
    found = checked("True")
    assert (found.available, found.answered_seconds) == (True, 119)
    assert checked("True", until="40m").answered_seconds is None


def test_an_answer_of_a_check_that_is_being_deleted_is_none():
    assert checked("True", deletionTimestamp="now").answered_seconds is None
