"""The verdicts about the control-plane components of the default catalogue."""

import pytest

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES
from reporter.model.observations import NotSynced
from reporter.model.verdicts import Active, Clear, ObjectRef, Unknown
from tests.support.builders import NOON, a_deployment, a_namespace, a_pod, a_store
from tests.support.catalogue_fixture import a_probe_request
from tests.support.probe_verdicts import verdicts_of_request


AUTH = "clusterGatewayAuthNotReady"
KEDA = "clusterKedaNotReady"
ISTIO = "clusterIstioControlPlaneNotReady"
KAITO = "clusterKaitoControllerNotReady"
NODES = "clusterNodeProvisionerNotReady"
STALE = {"generation": 8, "observed": 7}


def evaluate_reason(reason, *objects, deleted=(), store=None, **flags):
    store = store or a_store(*objects, *deleted)
    for each in deleted:
        store.delete(DEPLOYMENTS, each.metadata.namespace, each.metadata.name)
    (verdict,) = verdicts_of_request(a_probe_request(reason, **flags), store)
    return verdict


def messages_of(verdict) -> list[str]:
    assert isinstance(verdict, Active), verdict
    return ["{object} {state}".format(**t.message_fields) for t in verdict.troubles]


def authz(**changes):
    return a_deployment("apikey-authz", "llm-gateway-auth", replicas=3, **changes)


def operator(**changes):
    return a_deployment("apikey-operator", "llm-gateway-auth", **changes)


def istiod(name="istiod", **changes):
    return a_deployment(name, "istio-system", labels={"app": "istiod"}, **changes)


def keda(name, **changes):
    return a_deployment(name, "keda", replicas=1, **changes)


INSTALLED = a_namespace("llm-gateway-auth")


def test_a_component_that_works_is_clear():
    assert isinstance(evaluate_reason("clusterBBRNotReady", a_deployment()), Clear)


def test_every_failing_deployment_of_a_reason_is_named():
    verdict = evaluate_reason(AUTH, INSTALLED, authz(ready=0), operator(ready=1))
    assert messages_of(verdict) == [
        "Deployment llm-gateway-auth/apikey-authz is unavailable: 0/3 replicas ready",
        "Deployment llm-gateway-auth/apikey-operator is degraded: 1/2 replicas ready",
    ]
    assert [t.is_out for t in verdict.troubles] == [True, False]


def test_a_component_that_is_out_is_about_the_namespace_of_its_deployment():
    verdict = evaluate_reason(
        "clusterBBRNotReady", a_namespace("kaito-system"), a_deployment(ready=1)
    )
    involved = verdict.involved_object
    assert (involved.kind, involved.name, involved.uid) == (
        "Namespace",
        "kaito-system",
        "uid-kaito-system",
    )


def test_a_namespace_that_is_deleted_is_known_by_its_last_uid():
    store = a_store(a_namespace("kaito-system"), a_deployment())
    store.delete(DEPLOYMENTS, "kaito-system", "body-based-router")
    store.delete(NAMESPACES, "", "kaito-system")
    assert (
        evaluate_reason("clusterBBRNotReady", store=store).involved_object.uid
        == "uid-kaito-system"
    )


def test_only_pods_of_the_deployment_are_its_cause():
    other = a_pod("other-6c9f-a", workload="other", ready=False, waiting="CrashLoopBackOff")
    verdict = evaluate_reason("clusterBBRNotReady", a_deployment(ready=1), other)
    assert verdict.troubles[0].message_fields["pods"] == ""


def test_gateway_auth_is_no_trouble_where_it_was_never_installed():
    assert isinstance(evaluate_reason(AUTH), Clear)


def test_gateway_auth_is_missing_where_its_namespace_is():
    assert messages_of(evaluate_reason(AUTH, INSTALLED)) == [
        "Deployment llm-gateway-auth/apikey-authz does not exist",
        "Deployment llm-gateway-auth/apikey-operator does not exist",
    ]


def test_gateway_auth_that_was_deleted_with_its_namespace_is_reported():
    verdict = evaluate_reason(AUTH, deleted=[authz(), operator()])
    assert [t.cause.code for t in verdict.troubles] == ["Deleted", "Deleted"]


def test_without_namespaces_nothing_is_known_of_what_may_not_be_installed():
    store = a_store()
    store.set_watch_state(NAMESPACES, NotSynced("forbidden"))
    verdict = evaluate_reason(AUTH, store=store)
    assert isinstance(verdict, Unknown)
    assert verdict.why == "namespaces not listed yet: forbidden"


def test_an_empty_flag_switches_gateway_auth_off():
    objects = INSTALLED, authz(ready=0), operator(ready=0)
    assert isinstance(evaluate_reason(AUTH, *objects, gateway_auth_deployment=""), Clear)


def test_azure_authz_is_a_second_backend_of_the_same_reason():
    azure = a_deployment("azure-authz", "llm-gateway-auth", replicas=0)
    flags = {"azure_authz_deployment": "azure-authz"}
    both = evaluate_reason(AUTH, INSTALLED, authz(ready=0), operator(), azure, **flags)
    assert [t.cause.object.name for t in both.troubles] == ["apikey-authz", "azure-authz"]
    alone = evaluate_reason(AUTH, INSTALLED, azure, gateway_auth_deployment="", **flags)
    assert messages_of(alone) == [
        "Deployment llm-gateway-auth/azure-authz is scaled to zero replicas"
    ]


@pytest.mark.parametrize("name", ["keda-operator-metrics-apiserver", "keda-metrics-apiserver"])
def test_kedas_metrics_server_has_two_names(name):
    assert isinstance(evaluate_reason(KEDA, keda("keda-operator"), keda(name)), Clear)
    verdict = evaluate_reason(KEDA, keda("keda-operator"), keda(name, ready=0))
    assert messages_of(verdict) == [f"Deployment keda/{name} is unavailable: 0/1 replicas ready"]


def test_kedas_webhooks_are_evaluated_only_when_there():
    rest = keda("keda-operator"), keda("keda-metrics-apiserver")
    hooks = keda("keda-admission-webhooks", ready=0)
    assert isinstance(evaluate_reason(KEDA, *rest, deleted=[hooks]), Clear)
    assert len(messages_of(evaluate_reason(KEDA, *rest, hooks))) == 1


def test_no_node_provisioner_is_evaluated_unless_one_is_configured():
    assert isinstance(evaluate_reason(NODES), Clear)
    verdict = evaluate_reason(
        NODES, node_provisioner_name="karpenter", node_provisioner_namespace="karpenter"
    )
    assert messages_of(verdict) == ["Deployment karpenter/karpenter does not exist"]


REVISIONS = {
    "istiod": ("istiod", "istiod-1-20"),
    "revisions": ("istiod-1-20", "istiod-1-21"),
    "of the AKS add-on": ("istiod-asm-1-27", "istiod-asm-1-28"),
}


@pytest.mark.parametrize("names", REVISIONS.values(), ids=REVISIONS.keys())
def test_one_healthy_revision_of_istiod_suffices(names):
    old, new = names
    assert isinstance(evaluate_reason(ISTIO, istiod(old, ready=0), istiod(new)), Clear)
    assert isinstance(evaluate_reason(ISTIO, istiod(old), istiod(new, replicas=0)), Clear)
    assert isinstance(evaluate_reason(ISTIO, istiod(new), deleted=[istiod(old)]), Clear)


@pytest.mark.parametrize("names", REVISIONS.values(), ids=REVISIONS.keys())
def test_when_every_revision_is_out_istio_is(names):
    verdict = evaluate_reason(ISTIO, *(istiod(name, ready=0) for name in names))
    assert [t.cause.object.name for t in verdict.troubles] == list(names)
    assert all(t.is_out for t in verdict.troubles)


def test_while_one_revision_serves_no_other_is_blamed():
    verdict = evaluate_reason(
        ISTIO, istiod("istiod-1-19", replicas=0), istiod("istiod-1-20", ready=0), istiod(ready=1)
    )
    assert messages_of(verdict) == [
        "Deployment istio-system/istiod is degraded: 1/2 replicas ready"
    ]
    assert not verdict.troubles[0].is_out


def test_a_revision_left_at_zero_is_no_cause_while_the_other_starts():
    verdict = evaluate_reason(
        ISTIO, istiod("istiod-1-19", replicas=0), istiod("istiod-1-20", ready=0)
    )
    assert [t.cause.object.name for t in verdict.troubles] == ["istiod-1-20"]


def test_a_revision_that_is_being_deleted_does_not_make_up_for_another():
    verdict = evaluate_reason(
        ISTIO, istiod("istiod-1-19", deleted=NOON), istiod("istiod-1-20", ready=0)
    )
    assert messages_of(verdict) == [
        "Deployment istio-system/istiod-1-20 is unavailable: 0/2 replicas ready"
    ]


def test_the_only_revision_deleted_is_an_outage():
    verdict = evaluate_reason(ISTIO, deleted=[istiod("istiod-1-20")])
    assert messages_of(verdict) == ["Deployment istio-system/istiod-1-20 was deleted"]
    assert verdict.troubles[0].is_out


def test_one_stale_status_among_bad_revisions_leaves_it_open():
    stale = istiod("istiod-1-21", ready=0, **STALE)
    assert isinstance(evaluate_reason(ISTIO, istiod("istiod-1-20", ready=0), stale), Unknown)
    assert isinstance(evaluate_reason(ISTIO, istiod("istiod-1-20"), stale), Clear)


def test_a_stale_status_of_a_component_is_unknown():
    verdict = evaluate_reason("clusterBBRNotReady", a_deployment(ready=0, **STALE))
    assert isinstance(verdict, Unknown)
    assert "older than its spec" in verdict.why


def test_a_component_that_cannot_be_decoded_is_unknown_whether_it_was_ever_read_or_not():
    store = a_store(a_deployment(ready=0))
    store.mark_undecodable(DEPLOYMENTS, "kaito-system", "body-based-router")
    assert isinstance(evaluate_reason("clusterBBRNotReady", store=store), Unknown)
    store = a_store()
    store.mark_undecodable(DEPLOYMENTS, "kaito-system", "body-based-router")
    assert isinstance(evaluate_reason("clusterBBRNotReady", store=store), Unknown)


def test_kaito_in_another_namespace_is_evaluated_there_and_the_flag_is_noted():
    kaito = a_deployment("kaito-workspace", "kaito-system", replicas=1)
    verdict = evaluate_reason(KAITO, kaito, kaito_namespace="kaito-workspace")
    assert isinstance(verdict, Clear)
    assert verdict.notes == (
        (
            "Deployment kaito-workspace/kaito-workspace does not exist,"
            " kaito-system/kaito-workspace is judged instead; set --kaito-namespace=kaito-system"
        ),
    )


def test_a_wrong_name_in_a_flag_is_missing_and_never_out():
    labels = {"app": "body-based-router"}
    verdict = evaluate_reason(
        "clusterBBRNotReady", a_deployment(labels=labels), bbr_deployment="bbr"
    )
    assert messages_of(verdict) == [
        (
            "Deployment kaito-system/bbr does not exist, but kaito-system/body-based-router looks"
            " like it: set --bbr-deployment=body-based-router"
        )
    ]
    assert (verdict.troubles[0].cause.code, verdict.troubles[0].is_out) == ("Misnamed", False)


def test_a_component_whose_status_is_old_hides_no_other():
    off = operator(ready=0, available=0)
    verdict = evaluate_reason(AUTH, INSTALLED, authz(**STALE), off)
    assert [t.cause.object.name for t in verdict.troubles] == ["apikey-operator"]
    assert verdict.why_partial.startswith("status of Deployment llm-gateway-auth/apikey-authz")
    assert verdict.notes == (f"evaluated in part: {verdict.why_partial}",)


def test_a_component_whose_status_is_old_leaves_only_itself_open():
    off = operator(ready=0, available=0)
    verdict = evaluate_reason(AUTH, INSTALLED, authz(**STALE), off)
    names = ("apikey-authz", "apikey-operator")
    refs = [ObjectRef("deployments.apps", "llm-gateway-auth", name) for name in names]
    assert [verdict.leaves_open(ref) for ref in refs] == [True, False]
