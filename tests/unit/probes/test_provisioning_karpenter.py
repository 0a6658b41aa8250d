"""The verdicts about GPU nodes with the source karpenter, which reads NodeClaims."""

import pytest

from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.kaito import WORKSPACES
from reporter.kinds.karpenter import NODE_CLAIMS
from reporter.model.enums import Layer, TroubleKind
from reporter.model.observations import NotServed, NotSynced
from reporter.model.subjects import Subject
from reporter.model.verdicts import Clear
from tests.support.builders import LONG_AGO, NOON, a_condition
from tests.support.model_builders import (
    QUOTA,
    SUBJECT,
    TEAM,
    WAITING_CONDITIONS,
    WORKSPACE,
    a_model_pod,
    a_set,
    a_team,
    a_workspace,
    never_ready,
)
from tests.support.model_verdicts import rendered_message
from tests.support.probe_verdicts import only_trouble
from tests.support.source_builders import a_claim, a_pool, a_store, verdict_of


REASON = "inferencesetInfraProvisioningFailed"
WAITING = {**WAITING_CONDITIONS, "NodeClaimReady": ("False", "NodeClaimNotReady", "not enough")}
LAUNCHED = a_condition("Launched", "True", "Launched", since=NOON)
REGISTERED = a_condition("Registered", "True", "Registered")
INITIALIZED = a_condition("Initialized", "True", "Initialized")
NOT_REGISTERED = a_condition("Registered", "Unknown", "NodeNotFound", "Node not registered", NOON)
AWAITS = a_condition(
    "Registered", "Unknown", "AwaitingReconciliation", "object is awaiting", LONG_AGO
)
REFUSED = a_condition("Launched", "Unknown", "SubscriptionQuotaReached", QUOTA, NOON)
POD = a_model_pod(waiting="ContainerCreating", **never_ready(NOON))


def store(*objects, conditions=None, pod=POD, **changes):
    workspace = a_workspace(changed_conditions=WAITING if conditions is None else conditions)
    return a_store(a_team(), a_set(), workspace, pod, *objects, **changes)


def verdict(*objects, unwatched=(), **changes):
    return verdict_of(REASON, SUBJECT, store(*objects, **changes), unwatched)


def test_a_refusal_is_reported_before_kaito_copies_it_and_of_the_same_object_as_its_copy():
    before, after = verdict(a_claim(REFUSED, AWAITS)), verdict(a_claim(LAUNCHED))
    found = only_trouble(before)
    assert (found.kind, found.cause.code, found.since) == (TroubleKind.FAILED, "Quota", NOON)
    assert found.cause.object == only_trouble(after).cause.object
    assert rendered_message(before) == (
        "GPU nodes are not provisioned: a NodeClaim of Workspace qwen-7rk2p"
        f" Launched=Unknown (SubscriptionQuotaReached): {QUOTA}."
    )


def test_a_node_on_its_way_is_reported_by_the_step_that_it_waits_for_and_waits_as_long():
    without, found = (
        only_trouble(verdict(kinds=DEFAULT_KINDS)),
        only_trouble(verdict(a_claim(LAUNCHED, NOT_REGISTERED))),
    )
    assert (found.kind, found.cause, found.since) == (
        TroubleKind.STARTING,
        without.cause,
        without.since,
    )
    assert found.message_fields == {
        "extent": "",
        "object": "a NodeClaim of Workspace qwen-7rk2p",
        "state": "Registered=Unknown (NodeNotFound)",
    }
    assert found.foreign_text == "Node not registered"


def test_the_claims_of_the_old_provisioner_are_known_by_its_labels():
    labels = {"kaito.sh/workspace": WORKSPACE, "kaito.sh/workspacenamespace": TEAM}
    assert only_trouble(verdict(a_claim(REFUSED, labels=labels))).kind is TroubleKind.FAILED


def test_a_refusal_is_reported_as_well_if_the_claim_was_listed_first():
    workspace = a_workspace(changed_conditions=WAITING)
    known = a_store(a_team(), a_set(), a_claim(REFUSED), workspace, POD)
    assert only_trouble(verdict_of(REASON, SUBJECT, known)).kind is TroubleKind.FAILED


def test_of_two_claims_the_refused_one_is_reported():
    found = only_trouble(verdict(a_claim(LAUNCHED, NOT_REGISTERED), a_claim(REFUSED, name="z")))
    assert found.message_fields["state"] == "Launched=Unknown (SubscriptionQuotaReached)"


def test_the_text_is_the_same_with_each_new_claim():
    first, second = (only_trouble(verdict(a_claim(REFUSED, name=name))) for name in "ab")
    assert first == second


AS_WITHOUT = {
    "no claim yet": [],
    "a claim of another Workspace": [a_claim(REFUSED, of="other")],
    "nobody's claim": [a_claim(REFUSED, labels=None)],
    "a claim on its way out": [a_claim(REFUSED, deleted=NOON)],
    "a machine that is terminated": [
        a_claim(REFUSED, a_condition("InstanceTerminating", "True", "InstanceTerminating"))
    ],
    "a claim that is well": [a_claim(LAUNCHED, REGISTERED, INITIALIZED)],
    "an error without a text": [
        a_claim(a_condition("Launched", "True"), a_condition("Drifted", "True"))
    ],
    "no condition yet": [a_claim()],
}


@pytest.mark.parametrize("objects", AS_WITHOUT.values(), ids=AS_WITHOUT.keys())
def test_nothing_of_it_is_added(objects):
    with_source, without = verdict(*objects), verdict(kinds=DEFAULT_KINDS)
    assert rendered_message(with_source) == rendered_message(without)
    assert only_trouble(with_source).kind is TroubleKind.STARTING


def test_a_reason_without_a_text_is_no_refusal():
    assert (
        only_trouble(verdict(a_claim(a_condition("Launched", "Unknown", "Odd")))).kind
        is TroubleKind.STARTING
    )


def test_what_is_replaced_under_ready_pods_is_in_nobodys_way():
    assert isinstance(verdict(a_claim(REFUSED), pod=a_model_pod()), Clear)
    assert isinstance(verdict(deleted=[a_claim(REFUSED)], pod=a_model_pod()), Clear)
    assert isinstance(verdict(a_claim(REFUSED), conditions={}), Clear)


@pytest.mark.parametrize(
    "watch_state", [NotServed(), NotSynced("may not list nodeclaims.karpenter.sh")]
)
def test_without_a_watch_it_is_evaluated_as_without(watch_state):
    found = verdict(a_claim(LAUNCHED, NOT_REGISTERED), watch_states={NODE_CLAIMS: watch_state})
    assert rendered_message(found) == rendered_message(verdict(kinds=DEFAULT_KINDS))


def test_claims_of_a_lost_watch_are_not_reported():
    unwatched = verdict(a_claim(LAUNCHED, NOT_REGISTERED), unwatched=[NODE_CLAIMS])
    assert rendered_message(unwatched) == rendered_message(verdict(kinds=DEFAULT_KINDS))


# ---------------------------------------------------------------- what is remembered


def test_the_error_of_a_claim_that_is_deleted_at_once_is_remembered():
    known = store(deleted=[a_claim(REFUSED)])
    found = only_trouble(verdict_of(REASON, SUBJECT, known))
    assert (found.kind, found.cause.code, found.foreign_text) == (
        TroubleKind.FAILED,
        "Quota",
        QUOTA,
    )
    again = a_workspace(
        changed_conditions={**WAITING, "NodeClaimReady": ("False", "AwaitingReconciliation")}
    )
    known.upsert(WORKSPACES, again)
    assert only_trouble(verdict_of(REASON, SUBJECT, known)).kind is TroubleKind.FAILED
    known.upsert(NODE_CLAIMS, a_claim(LAUNCHED, NOT_REGISTERED, name="next"))
    assert only_trouble(verdict_of(REASON, SUBJECT, known)).kind is TroubleKind.STARTING


def test_of_two_nodes_one_machine_does_not_overcome_the_other_ones_error():
    known = store(deleted=[a_claim(REFUSED)])
    known.upsert(WORKSPACES, a_workspace(changed_conditions=WAITING, nodes=2))
    known.upsert(NODE_CLAIMS, a_claim(LAUNCHED, NOT_REGISTERED, name="one"))
    assert only_trouble(verdict_of(REASON, SUBJECT, known)).kind is TroubleKind.FAILED


def test_an_error_of_a_workspace_that_is_not_there_is_remembered_as_long_as_its_claim():
    known = store()
    claim = a_claim(REFUSED, of="later")
    known.upsert(NODE_CLAIMS, claim)
    assert list(known.snapshot().provisioning_errors.keys()) == [(TEAM, "later")]
    known.delete(NODE_CLAIMS, "", claim.metadata.name)
    assert list(known.snapshot().provisioning_errors.keys()) == []


def test_an_error_outlives_its_claim_while_workspaces_are_not_listed():
    known = store()
    known.set_watch_state(WORKSPACES, NotSynced("connection refused"))
    claim = a_claim(REFUSED, of="later")
    known.upsert(NODE_CLAIMS, claim)
    known.delete(NODE_CLAIMS, "", claim.metadata.name)
    assert list(known.snapshot().provisioning_errors.keys()) == [(TEAM, "later")]


# ---------------------------------------------------------------- who is touched


def test_a_claim_touches_its_set_or_all_of_the_namespace_where_it_names_none():
    known = store()
    known.take_dirty()
    known.upsert(NODE_CLAIMS, a_claim())
    assert known.take_dirty() == {SUBJECT}
    labels = {"kaito.sh/workspace": WORKSPACE, "kaito.sh/workspacenamespace": TEAM}
    known.upsert(NODE_CLAIMS, a_claim(labels=labels))
    assert known.take_dirty() == {SUBJECT, Subject(Layer.MODELDEPLOYMENT, TEAM)}
    known.upsert(NODE_CLAIMS, a_claim(name="own", labels=None))
    assert known.take_dirty() == frozenset()


def test_a_refusal_counts_although_kaito_has_not_looked_at_a_newer_spec():
    old = a_workspace(changed_conditions=WAITING, generation=2, observed=1)
    objects = a_store(a_team(), a_set(), old, POD, a_claim(REFUSED, AWAITS))
    found = only_trouble(verdict_of(REASON, SUBJECT, objects, ()))
    assert (found.kind, found.cause.code) == (TroubleKind.FAILED, "Quota")


def unhealthy(reason="CreateInstanceFailed", text=QUOTA, **changes):
    condition = a_condition("NodeRegistrationHealthy", "False", reason, text, NOON)
    return a_pool(condition, **changes)


def test_what_the_pool_keeps_is_reported_while_its_claims_come_and_go():
    found = verdict(unhealthy(), a_claim(AWAITS))
    assert (only_trouble(found).kind, only_trouble(found).cause.code) == (
        TroubleKind.FAILED,
        "Quota",
    )
    assert rendered_message(found) == (
        "GPU nodes are not provisioned: Workspace qwen-7rk2p NodeClaimReady=False"
        f" (NodeClaimNotReady, before that CreateInstanceFailed): {QUOTA}."
    )


OVERCOME = {
    "a machine is launched": [unhealthy(), a_claim(LAUNCHED, NOT_REGISTERED)],
    "the pool of another Workspace": [unhealthy(of="other")],
    "a pool on its way out": [unhealthy(deleted=NOON)],
    "a pool that has a new spec": [unhealthy(generation=2, observed=1)],
    "a pool that is well": [a_pool(a_condition("NodeRegistrationHealthy", "True"))],
}


@pytest.mark.parametrize("objects", OVERCOME.values(), ids=OVERCOME.keys())
def test_what_a_pool_stated_before_is_no_refusal(objects):
    assert only_trouble(verdict(*objects)).kind is TroubleKind.STARTING


def test_an_unhealthy_pool_under_ready_pods_is_in_nobodys_way():
    assert isinstance(verdict(unhealthy(), pod=a_model_pod()), Clear)
