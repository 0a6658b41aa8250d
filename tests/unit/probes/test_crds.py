"""The verdicts about required CRDs."""

from datetime import timedelta

import pytest

from reporter.kinds.core import NAMESPACES
from reporter.model.enums import TroubleKind
from reporter.model.observations import DiscoveryResult, NotSynced
from reporter.model.verdicts import Active, Clear, Unknown
from tests.support.builders import NOON, a_namespace, a_store
from tests.support.catalogue_fixture import a_probe_request
from tests.support.probe_verdicts import verdicts_of_request


REASON = "clusterCRDMissing"
ROUTES = "httproutes.gateway.networking.k8s.io"
SETS = "inferencesets.kaito.sh"
KEYS = "apikeys.kaito.sh"
REQUIRED = {each.crd: ("v1",) for each in a_probe_request(REASON).parameters.required}


def evaluate_answers(*answers, auth=True, store=None, **flags):
    """Return the verdicts by CRD after these discovery results, 30 s apart."""
    store = store or a_store(*([a_namespace("llm-gateway-auth")] if auth else []), crds=REQUIRED)
    for number, answer in enumerate(answers):
        store.record_discovery(answer, "timeout", now=NOON + number * timedelta(seconds=30))
    return {v.key.item: v for v in verdicts_of_request(a_probe_request(REASON, **flags), store)}


def serving(**_) -> DiscoveryResult:
    return DiscoveryResult(REQUIRED)


def without(*crds, **versions) -> DiscoveryResult:
    return DiscoveryResult({c: v for c, v in REQUIRED.items() if c not in crds})


def message_of(verdict) -> str:
    assert isinstance(verdict, Active), verdict
    (trouble,) = verdict.troubles
    return "{object} {state}; {chart}".format(**trouble.message_fields)


def test_each_crd_that_is_served_is_clear():
    assert all(isinstance(v, Clear) for v in evaluate_answers(serving()).values())


def test_a_crd_that_was_never_there_is_not_installed():
    verdict = evaluate_answers(without(ROUTES), without(ROUTES))[ROUTES]
    assert message_of(verdict) == f"CRD {ROUTES} is not installed; the Gateway API CRDs"
    (trouble,) = verdict.troubles
    assert (trouble.kind, trouble.is_out, trouble.object_created_at) == (
        TroubleKind.DECLARED,
        True,
        None,
    )
    assert trouble.cause.code == "NotInstalled"


def test_a_crd_that_is_not_served_any_more_was_removed():
    verdict = evaluate_answers(serving(), without(ROUTES), without(ROUTES))[ROUTES]
    assert message_of(verdict) == f"CRD {ROUTES} was removed; the Gateway API CRDs"
    assert (verdict.troubles[0].kind, verdict.troubles[0].cause.code) == (
        TroubleKind.LOST,
        "Removed",
    )


def test_a_missing_crd_is_about_the_crd_itself():
    involved = evaluate_answers(without(ROUTES), without(ROUTES))[ROUTES].involved_object
    assert (involved.api_version, involved.kind, involved.name) == (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        ROUTES,
    )


def test_a_version_that_is_not_served_is_named_with_what_is_needed():
    beta = DiscoveryResult({**REQUIRED, ROUTES: ("v1beta1",)})
    verdict = evaluate_answers(beta, beta)[ROUTES]
    assert message_of(verdict) == (
        f"CRD {ROUTES} is served as v1beta1 only, needed is v1; the Gateway API CRDs"
    )


@pytest.mark.parametrize("versions", [("v1alpha1",), ("v1beta1",), ("v1beta1", "v1alpha1")])
def test_any_version_of_kaitos_crds_will_do(versions):
    assert isinstance(evaluate_answers(DiscoveryResult({**REQUIRED, SETS: versions}))[SETS], Clear)


def test_each_missing_one_has_a_verdict_of_its_own():
    verdicts = evaluate_answers(without(ROUTES, SETS), without(ROUTES, SETS))
    missing = [crd for crd, v in verdicts.items() if isinstance(v, Active)]
    assert sorted(missing) == sorted([ROUTES, SETS])


def test_the_first_answer_that_lacks_one_is_unknown():
    verdict = evaluate_answers(serving(), without(ROUTES))[ROUTES]
    assert isinstance(verdict, Unknown)
    assert verdict.why == f"{ROUTES}: one answer of discovery lacks it, a second is awaited"


def test_before_any_answer_all_is_unknown():
    assert all(isinstance(v, Unknown) for v in evaluate_answers().values())


def test_discovery_that_fails_as_a_whole_is_unknown():
    verdicts = evaluate_answers(serving(), None)
    assert verdicts[ROUTES].why == f"{ROUTES}: timeout"
    assert all(isinstance(v, Unknown) for v in verdicts.values())


def test_discovery_that_fails_in_part_is_unknown_for_that_part_alone():
    partial = DiscoveryResult(
        {crd: v for crd, v in REQUIRED.items() if not crd.endswith("kaito.sh")},
        failed_groups=frozenset({"kaito.sh", "external.metrics.k8s.io"}),
    )
    verdicts = evaluate_answers(partial, partial)
    assert isinstance(verdicts[SETS], Unknown)
    assert isinstance(verdicts[ROUTES], Clear)


def test_optional_crds_are_not_asked_for():
    assert not {"ciliumnetworkpolicies.cilium.io", "nodeclaims.karpenter.sh"} & REQUIRED.keys()


def test_the_crd_of_api_keys_is_required_only_with_gateway_auth():
    missing = without(KEYS), without(KEYS)
    assert isinstance(evaluate_answers(*missing)[KEYS], Active)
    assert KEYS not in evaluate_answers(*missing, gateway_auth_deployment="")
    assert KEYS not in evaluate_answers(*missing, auth=False)


def test_without_namespaces_it_is_unknown_whether_api_keys_are_required():
    store = a_store(crds=REQUIRED)
    store.set_watch_state(NAMESPACES, NotSynced())
    assert isinstance(evaluate_answers(without(KEYS), without(KEYS), store=store)[KEYS], Unknown)
    assert isinstance(evaluate_answers(serving(), store=store)[KEYS], Clear)
