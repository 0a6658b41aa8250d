"""An object that cannot be decoded is in no list, so a verdict that needed the list is Unknown."""

import pytest
from msgspec.structs import replace

from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.core import NAMESPACES, PODS, Namespace, Pod
from reporter.kinds.gateway_api import GATEWAYS, HTTP_ROUTES, Gateway, HTTPRoute
from reporter.kinds.kaito import (
    API_KEYS,
    INFERENCE_SETS,
    WORKSPACES,
    APIKey,
    InferenceSet,
    Workspace,
)
from reporter.kinds.karpenter import NODE_CLAIMS, NodeClaim
from reporter.kinds.objects import AnnotatedMetadata, Metadata, OwnerReference
from reporter.model.enums import Layer
from reporter.model.observations import NotSynced
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Active, Clear, Paused, Unknown
from reporter.snapshot.subjects import Subjects, refresh_subjects
from tests.support import harness_builders, model_builders, source_builders
from tests.support.builders import NOON, a_deployment, a_store, an_observed_condition
from tests.support.catalogue_fixture import (
    DEFAULT_CATALOGUE,
    HARNESS_LABEL,
    entries_called_by_default,
)
from tests.support.model_builders import TEAM, a_model
from tests.support.model_verdicts import a_probe_run, verdict_in_a_pass


MODEL = Subject(Layer.MODELDEPLOYMENT, TEAM, "qwen")
HARNESS = Subject(Layer.MODELHARNESS, TEAM)
BY_KAITO = {"inferenceset.kaito.sh/created-by": "qwen"}
BY_ANOTHER = {"inferenceset.kaito.sh/created-by": "llama"}
BY_CHART = {"kaito.sh/inferenceset": "qwen"}
REFUSED = ("False", "SubscriptionQuotaReached", "quota")


def a_stub(type_, name, namespace=TEAM, metadata=Metadata, **fields):
    return type_(metadata=metadata(name=name, namespace=namespace, **fields))


def mark(store, kind, stub):
    store.mark_undecodable(kind, stub.metadata.namespace, stub.metadata.name, stub)


# Names that begin like no InferenceSet: only labels, owners and namespaces show it.
UNSEEN = {
    "a model pod": (PODS, a_stub(Pod, "x", labels=BY_KAITO), "inferencesetModelPodsNotReady"),
    "a Workspace": (
        WORKSPACES,
        a_stub(Workspace, "x", metadata=AnnotatedMetadata, labels=BY_KAITO),
        "inferencesetInfraProvisioningFailed",
    ),
    "a route by its label": (
        HTTP_ROUTES,
        a_stub(HTTPRoute, "x", labels=BY_CHART),
        "inferencesetRouteNotReady",
    ),
    "a route by its backends, which nobody can read": (
        HTTP_ROUTES,
        a_stub(HTTPRoute, "x"),
        "inferencesetRouteNotReady",
    ),
    "a node's trouble in a Workspace": (
        WORKSPACES,
        a_stub(Workspace, "x", metadata=AnnotatedMetadata, labels=BY_KAITO),
        "inferencesetNodeUnderPressure",
    ),
}


@pytest.mark.parametrize(("kind", "stub", "reason"), UNSEEN.values(), ids=UNSEEN.keys())
def test_an_object_of_a_list_that_was_never_decoded_is_missed(kind, stub, reason):
    store = a_store(*a_model())
    assert isinstance(verdict_in_a_pass(store, reason), Clear)
    mark(store, kind, stub)
    found = verdict_in_a_pass(store, reason)
    assert isinstance(found, Unknown)
    assert found.why == f"{kind.kind} {TEAM}/x could not be decoded"


def test_an_object_whose_metadata_cannot_be_decoded_may_be_in_any_list():
    store = a_store(*a_model())
    store.mark_undecodable(PODS, "elsewhere", "x", None)
    assert isinstance(verdict_in_a_pass(store, "inferencesetModelPodsNotReady"), Unknown)


def test_an_object_of_another_set_is_not_missed():
    store = a_store(*a_model())
    mark(store, PODS, a_stub(Pod, "x", labels=BY_ANOTHER))
    mark(store, HTTP_ROUTES, a_stub(HTTPRoute, "x", namespace="team-b"))
    assert isinstance(verdict_in_a_pass(store, "inferencesetModelPodsNotReady"), Clear)
    assert isinstance(verdict_in_a_pass(store, "inferencesetRouteNotReady"), Clear)


def test_an_endpoint_picker_found_only_by_its_label_is_missed():
    picker = a_deployment("router", TEAM, labels=BY_CHART)
    pool = model_builders.a_pool()
    before = pool.spec.endpoint_picker_ref
    assert before is not None
    reference = replace(before, name="other-service")
    own = replace(pool, spec=replace(pool.spec, endpoint_picker_ref=reference))
    store = a_store(*a_model(own, without=[Deployment]), picker)
    assert isinstance(verdict_in_a_pass(store, "inferencesetEPPNotReady"), Clear)
    store.mark_undecodable(DEPLOYMENTS, TEAM, "router", picker)
    assert isinstance(verdict_in_a_pass(store, "inferencesetEPPNotReady"), Unknown)


def test_a_component_found_elsewhere_only_by_its_label_is_missed():
    store = a_store(*a_model())
    reason = "clusterBBRNotReady"
    assert isinstance(verdict_in_a_pass(store, reason, CLUSTER_SUBJECT), Active), (
        "it does not exist"
    )
    (component,) = DEFAULT_CATALOGUE[reason].parameters.components
    mark(store, DEPLOYMENTS, a_stub(Deployment, "x", "mesh", labels=component.labels))
    assert isinstance(verdict_in_a_pass(store, reason, CLUSTER_SUBJECT), Unknown)


def test_a_pod_adds_only_detail_to_a_component_that_is_out():
    store = a_store(a_deployment(replicas=2, ready=0))
    owner = OwnerReference(kind="ReplicaSet", name="body-based-router", controller=True)
    mark(store, PODS, a_stub(Pod, "x", "kaito-system", owner_references=(owner,)))
    assert isinstance(verdict_in_a_pass(store, "clusterBBRNotReady", CLUSTER_SUBJECT), Active)


# ---------------------------------------------------------------- a harness


HARNESS_STACK = (
    harness_builders.a_team(),
    harness_builders.a_gateway(),
    harness_builders.a_data_plane(),
    *(harness_builders.a_filter(name) for name in harness_builders.FILTERS),
)


@pytest.mark.parametrize(
    "reason",
    [
        "modelharnessGatewayClassMissing",
        "modelharnessGatewayProgrammingFailed",
        "modelharnessGatewayDataPlaneNotReady",
        "modelharnessCatchAllFilterRejected",
    ],
)
def test_a_second_gateway_that_was_never_decoded_is_missed(reason):
    store = a_store(*HARNESS_STACK)
    subject = Subject(Layer.MODELHARNESS, harness_builders.TEAM)
    assert isinstance(verdict_in_a_pass(store, reason, subject), Clear)
    mark(store, GATEWAYS, a_stub(Gateway, "second", harness_builders.TEAM))
    assert isinstance(verdict_in_a_pass(store, reason, subject), Unknown)


@pytest.mark.parametrize(
    "reason", ["modelharnessAPIKeyReconcileFailed", "modelharnessExtAuthzProviderMissing"]
)
def test_a_key_that_was_never_decoded_is_missed(reason):
    store = a_store(*HARNESS_STACK)
    subject = Subject(Layer.MODELHARNESS, harness_builders.TEAM)
    assert isinstance(verdict_in_a_pass(store, reason, subject), Clear)
    mark(store, API_KEYS, a_stub(APIKey, "default", harness_builders.TEAM))
    assert isinstance(verdict_in_a_pass(store, reason, subject), Unknown)


def test_a_key_that_cannot_be_decoded_hides_no_trouble_of_another():
    conflict = an_observed_condition("Ready", "False", "Conflict")
    store = a_store(*HARNESS_STACK, *(harness_builders.an_api_key(n, conflict) for n in "ab"))
    mark(store, API_KEYS, a_stub(APIKey, "a", harness_builders.TEAM))
    subject = Subject(Layer.MODELHARNESS, harness_builders.TEAM)
    found = verdict_in_a_pass(store, "modelharnessAPIKeyReconcileFailed", subject)
    assert isinstance(found, Active)
    assert [trouble.cause.object.name for trouble in found.troubles] == ["b"]
    assert found.why_partial == "APIKey team-a/a could not be decoded"
    mark(store, API_KEYS, a_stub(APIKey, "c", harness_builders.TEAM))
    found = verdict_in_a_pass(store, "modelharnessAPIKeyReconcileFailed", subject)
    assert isinstance(found, Unknown), "nobody has ever read key c"


# ---------------------------------------------------------------- subjects


def subjects(store):
    return refresh_subjects(store.snapshot(), Subjects(), now=NOON).all


def test_a_namespace_that_was_never_decoded_keeps_its_subjects_and_all_of_them_are_unknown():
    team, *objects = sorted(a_model(), key=lambda each: not isinstance(each, Namespace))
    store = a_store(*objects)
    assert subjects(store) == {CLUSTER_SUBJECT}
    labels = dict([HARNESS_LABEL])
    mark(store, NAMESPACES, a_stub(Namespace, TEAM, "", labels=labels))
    assert subjects(store) == {CLUSTER_SUBJECT, HARNESS, MODEL}
    found = a_probe_run(store).run([HARNESS, MODEL])
    called = {e.reason for s in (HARNESS, MODEL) for e in entries_called_by_default(s.layer)}
    found = [each for each in found if each.key.reason in called]
    assert {each.key.reason for each in found} == called
    assert {type(each) for each in found} == {Unknown}
    assert {each.why for each in found} == {f"Namespace {TEAM} could not be decoded"}
    store.upsert(NAMESPACES, team)
    assert isinstance(verdict_in_a_pass(store, "inferencesetModelPodsNotReady"), Clear)


@pytest.mark.parametrize(("labels", "is_subject"), [({}, False), (None, True)])
def test_a_namespace_is_a_subject_by_its_labels_or_if_nobody_can_read_them(labels, is_subject):
    store = a_store()
    stub = None if labels is None else a_stub(Namespace, TEAM, "", labels=labels)
    store.mark_undecodable(NAMESPACES, "", TEAM, stub)
    assert (HARNESS in subjects(store)) is is_subject


def test_a_label_given_to_an_undecodable_namespace_makes_a_subject():
    store = a_store()
    mark(store, NAMESPACES, a_stub(Namespace, TEAM, ""))
    before = refresh_subjects(store.snapshot(), Subjects(), now=NOON)
    store.take_dirty()
    mark(store, NAMESPACES, a_stub(Namespace, TEAM, "", labels=dict([HARNESS_LABEL])))
    assert store.take_dirty()
    assert HARNESS in refresh_subjects(store.snapshot(), before, now=NOON).all


def test_a_set_that_was_never_decoded_is_no_subject_of_an_unlabelled_namespace():
    store = a_store()
    mark(store, INFERENCE_SETS, a_stub(InferenceSet, "qwen", metadata=AnnotatedMetadata))
    assert subjects(store) == {CLUSTER_SUBJECT}


def test_a_set_at_zero_whose_newest_version_cannot_be_decoded_is_not_paused():
    at_zero = model_builders.a_set(replicas=0)
    store = a_store(*a_model(at_zero))
    assert isinstance(verdict_in_a_pass(store, "inferencesetModelPodsNotReady"), Paused)
    mark(store, INFERENCE_SETS, InferenceSet(metadata=at_zero.metadata))
    assert isinstance(verdict_in_a_pass(store, "inferencesetModelPodsNotReady"), Unknown)


# ---------------------------------------------------------------- kinds consulted by some


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (HTTP_ROUTES, "modelharnessGatewayProgrammingFailed"),
        (HTTP_ROUTES, "modelharnessGatewayDataPlaneNotReady"),
        (HTTP_ROUTES, "modelharnessCatchAllFilterRejected"),
    ],
)
def test_a_gateway_that_only_a_route_could_name_is_missed_without_routes(kind, reason):
    subject = Subject(Layer.MODELHARNESS, harness_builders.TEAM)
    store = a_store(*HARNESS_STACK)
    store.set_watch_state(kind, NotSynced("may not list it"))
    assert isinstance(verdict_in_a_pass(store, reason, subject), Clear), (
        "the harness owns the only one"
    )
    store.upsert(GATEWAYS, harness_builders.a_gateway("second", labels={}))
    assert verdict_in_a_pass(store, reason, subject).why.startswith(kind.group_resource)


def test_a_policy_that_may_keep_out_the_scaler_is_unknown_without_deployments():
    subject = Subject(Layer.MODELHARNESS, harness_builders.TEAM)
    policy = harness_builders.a_policy()
    store = a_store(*HARNESS_STACK, policy)
    store.set_watch_state(DEPLOYMENTS, NotSynced("may not list it"))
    reason = "modelharnessNetworkPolicyMisconfigured"
    assert verdict_in_a_pass(store, reason, subject).why.startswith("deployments.apps not listed")


# ---------------------------------------------------------------- details


@pytest.mark.parametrize(
    ("conditions", "expected"), [({}, Unknown), ({"NodeClaimReady": REFUSED}, Active)]
)
def test_a_claim_that_cannot_be_decoded_leaves_known_trouble_and_proves_no_health(
    conditions, expected
):
    workspace = model_builders.a_workspace(changed_conditions=conditions)
    store = source_builders.a_store(*a_model(workspace))
    claim = source_builders.a_claim()
    mark(store, NODE_CLAIMS, NodeClaim(metadata=claim.metadata))
    assert isinstance(verdict_in_a_pass(store, "inferencesetInfraProvisioningFailed"), expected)
