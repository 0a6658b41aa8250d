"""
Which words of a Workspace mean that its GPU nodes do not come.
"""

import pytest

from reporter.model.kinds import PODS, WORKSPACES
from reporter.model.observations import Unlisted
from reporter.model.verdicts import Clear, Unknown
from reporter.model.words import Kind
from reporter.stages.nodes import remember
from tests.builders import LONG_AGO, NOON
from tests.model_builders import (
    EPOCH,
    HOLDS,
    QUOTA,
    WAITS,
    a_model,
    a_model_pod,
    a_model_store,
    a_workspace,
    drop,
    judged,
    never_ready,
    only,
    said,
    told,
)


REASON = "inferencesetInfraProvisioningFailed"
POD = type(a_model_pod())
UNAVAILABLE = "all requested instance types were unavailable during launch"
REFUSED = {"NodeClaimReady": ("False", "SubscriptionQuotaReached", QUOTA), **WAITS}


def claims(reason: str, message: str = "", status: str = "False", **others) -> dict:
    return {**WAITS, "NodeClaimReady": (status, reason, message), **others}


def starting(stated, **changes) -> list:
    """
    A model whose pod waits for its node.
    """
    pod = a_model_pod(waiting="ContainerCreating", **never_ready(NOON))
    return a_model(a_workspace(stated=stated, **changes), pod)


CLEAR = {
    "serves": a_model(),
    "own nodes": a_model(a_workspace(stated={"NodeClaimReady": None})),
    "a claim changes under Ready pods": a_model(a_workspace(stated=claims("NodeNotReady"))),
    "plugins come back under Ready pods": a_model(
        a_workspace(stated={"NodesReady": ("False", "NodePluginsNotReady")})
    ),
    "being deleted": a_model(a_workspace(stated=REFUSED, deleted=NOON)),
    "KAITO says it is being deleted": a_model(
        a_workspace(stated={**REFUSED, "WorkspaceDeleting": ("True", "workspaceDeleted")})
    ),
    "of another set": a_model(a_workspace("other-1", stated=REFUSED, of="other")),
    "a mirror of the model is on its way": starting(
        {"ResourceReady": ("False", "ModelMirrorNotReady")}
    ),
    "no Workspace yet": a_model(without=[type(a_workspace())]),
}


@pytest.mark.parametrize("objects", CLEAR.values(), ids=CLEAR.keys())
def test_it_is_clear(objects):
    assert isinstance(judged(REASON, *objects), Clear)


WAITING = [
    "NodeClaimNotReady",
    "AwaitingReconciliation",
    "NodeNotFound",
    "NodeNotReady",
    "StartupTaintsExist",
    "KnownEphemeralTaintsExist",
    "ResourceNotRegistered",
    "DRADriverPoolsNotPublished",
    "RegistrationHookPending",
]


@pytest.mark.parametrize("reason", WAITING)
@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_on_its_way_is_starting(reason, status):
    stated = claims(reason, status=status, ResourceReady=("False", reason))
    found = only(judged(REASON, *starting(stated, since=LONG_AGO)))
    assert (found.kind, found.cause.code, found.since) == (Kind.STARTING, "NoProgress", LONG_AGO)
    assert found.fields["state"] == f"NodeClaimReady={status} ({reason})"


REFUSALS = {
    "SubscriptionQuotaReached": "Quota",
    "SKUNotAvailable": "Capacity",
    "ZonalAllocationFailure": "Capacity",
    "AllocationFailure": "Capacity",
    "OverconstrainedZonalAllocationFailure": "Capacity",
    "OverconstrainedAllocationFailure": "Capacity",
    "InstanceTypeResolutionFailed": "InstanceType",
    "CreateInstanceFailed": "NodeClaimFailed",
    "NodeClassReadinessUnknown": "NodeClaimFailed",
    "MultipleNodesFound": "NodeClaimFailed",
    "LaunchFailed": "NodeClaimFailed",
    "WordOfAnotherCloud": "NodeClaimFailed",
}


@pytest.mark.parametrize(("reason", "code"), REFUSALS.items())
def test_what_a_cloud_refuses_is_a_hard_error(reason, code):
    found = only(judged(REASON, *starting(claims(reason, "why"))))
    assert (found.kind, found.cause.code, found.foreign) == (Kind.FAILED, code, "why")


@pytest.mark.parametrize(("text", "code"), [(UNAVAILABLE, "Capacity"), (QUOTA, "Quota")])
def test_a_failed_launch_is_told_by_its_text(text, code):
    assert only(judged(REASON, *starting(claims("LaunchFailed", text)))).cause.code == code


def test_the_message_names_workspace_condition_and_error():
    assert told(judged(REASON, *starting(REFUSED))) == (
        "GPU nodes are not provisioned: Workspace qwen-7rk2p NodeClaimReady=False"
        f" (SubscriptionQuotaReached): {QUOTA}."
    )


def test_it_is_told_whether_pods_still_serve_or_not():
    verdict = judged(REASON, *a_model(a_workspace(stated=REFUSED)))
    assert only(verdict).kind is Kind.FAILED


def test_the_condition_that_states_an_error_is_told():
    stated = claims("NodeClaimNotReady", ResourceReady=("False", "AllocationFailure", "none left"))
    found = only(judged(REASON, *starting(stated)))
    assert (found.kind, found.cause.code, found.foreign) == (Kind.FAILED, "Capacity", "none left")
    assert found.fields["state"] == (
        "NodeClaimReady=False (NodeClaimNotReady, before that AllocationFailure)"
    )


def test_a_machine_that_was_given_makes_an_old_error_of_another_condition_void():
    stated = claims("NodeNotFound", ResourceReady=("False", "AllocationFailure", "none left"))
    assert only(judged(REASON, *starting(stated))).kind is Kind.STARTING


def test_own_nodes_that_are_not_ready_are_waited_for():
    stated = {**WAITS, "NodeClaimReady": None}
    found = only(judged(REASON, *starting(stated)))
    assert (found.kind, found.cause.code) == (Kind.STARTING, "NodesNotReady")
    assert told(judged(REASON, *starting(stated))).endswith(
        "NodesReady=False (NodeNotReady): Not enough Nodes are ready."
    )


def test_an_error_about_own_nodes_is_told():
    stated = {**WAITS, "NodeClaimReady": None, "ResourceReady": ("False", "NodeLabelFailed", "x")}
    assert only(judged(REASON, *starting(stated))).kind is Kind.FAILED


def test_drivers_that_do_not_come_are_waited_for():
    stated = {**WAITS, "NodeClaimReady": HOLDS["NodeClaimReady"]}
    stated["NodesReady"] = ("False", "NodePluginsNotReady", "waiting all node plugins to be ready")
    found = only(judged(REASON, *starting(stated)))
    assert (found.kind, found.cause.code) == (Kind.STARTING, "NodesNotReady")


def test_a_workspace_that_nobody_took_up_is_starting_since_it_was_made():
    made = a_workspace(bare=True, born=NOON)
    found = only(judged(REASON, *a_model(made, without=[POD])))
    assert (found.kind, found.cause.code, found.since) == (Kind.STARTING, "NoNodeClaim", NOON)


def test_a_default_time_is_none():
    found = only(judged(REASON, *starting(claims("NodeNotFound"), since=EPOCH, born=NOON)))
    assert found.since == NOON


def test_a_replica_that_fails_does_not_hide_behind_one_that_serves():
    second = a_workspace("qwen-b2", stated=REFUSED)
    found = only(judged(REASON, *a_model(second)))
    assert found.cause.object.name == "qwen-b2"


def test_conditions_of_an_older_spec_are_unknown():
    verdict = judged(REASON, *starting(REFUSED, generation=2, observed=1))
    assert isinstance(verdict, Unknown)
    assert "older than its spec" in verdict.why


def test_conditions_that_tell_no_generation_are_believed():
    assert only(judged(REASON, *starting(REFUSED, generation=2, observed=0)))


def test_without_pods_in_sight_a_claim_that_changes_is_starting():
    store = a_model_store(*a_model(a_workspace(stated=claims("NodeNotReady")), without=[POD]))
    store.sight(PODS, Unlisted("forbidden"))
    assert only(judged(REASON, store=store)).kind is Kind.STARTING


@pytest.mark.parametrize("name", ["qwen-7rk2p", "qwen-never-read"])
def test_a_workspace_that_cannot_be_decoded_is_unknown(name):
    store = a_model_store(*a_model())
    store.spoil(WORKSPACES, "team-a", name)
    assert isinstance(judged(REASON, store=store), Unknown)


def test_a_workspace_of_another_set_may_be_unreadable():
    store = a_model_store(*a_model())
    store.spoil(WORKSPACES, "team-a", "llama-1")
    assert isinstance(judged(REASON, store=store), Clear)


# ---------------------------------------------------------------- the last real error


def after(*reasons: str):
    """
    The verdict after a Workspace gave these reasons one by one.
    """
    store = a_model_store(*starting(REFUSED))
    for reason in reasons:
        store.put(WORKSPACES, a_workspace(stated=claims(reason)))
    return judged(REASON, store=store)


@pytest.mark.parametrize("now", ["NodeClaimNotReady", "AwaitingReconciliation"])
def test_while_the_next_try_waits_the_last_error_is_told(now):
    verdict = after("AwaitingReconciliation", now)
    assert (only(verdict).kind, only(verdict).cause.code) == (Kind.FAILED, "Quota")
    assert told(verdict) == (
        "GPU nodes are not provisioned: Workspace qwen-7rk2p NodeClaimReady=False"
        f" ({now}, before that SubscriptionQuotaReached): {QUOTA}."
    )


@pytest.mark.parametrize("now", ["NodeNotFound", "StartupTaintsExist"])
def test_once_a_machine_is_given_the_error_is_overcome(now):
    assert only(after("NodeClaimNotReady", now)).kind is Kind.STARTING
    assert only(after(now, "NodeClaimNotReady")).kind is Kind.STARTING


def test_a_newer_error_takes_the_place_of_the_last():
    assert only(after("AllocationFailure", "NodeClaimNotReady")).cause.code == "Capacity"


def test_what_was_refused_is_forgotten_with_the_workspace():
    store = a_model_store(*starting(REFUSED))
    drop(store, a_workspace())
    store.put(WORKSPACES, a_workspace(stated=claims("NodeClaimNotReady")))
    assert only(judged(REASON, store=store)).kind is Kind.STARTING


def test_a_workspace_that_serves_again_remembers_nothing():
    error = said("NodeClaimReady", "False", "AllocationFailure")
    assert remember(error, a_workspace()) is None
    assert remember(error, a_workspace(stated={"NodeClaimReady": None})) is None
