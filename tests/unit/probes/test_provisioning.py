"""The verdicts about GPU nodes, from a Workspace's conditions."""

import pytest

from reporter.kinds.core import PODS
from reporter.kinds.kaito import WORKSPACES, Workspace
from reporter.kinds.objects import AnnotatedMetadata
from reporter.model.enums import TroubleKind
from reporter.model.observations import NotSynced
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import LONG_AGO, NOON
from tests.support.model_builders import (
    EPOCH,
    QUOTA,
    SERVING_CONDITIONS,
    WAITING_CONDITIONS,
    a_model,
    a_model_pod,
    a_model_store,
    a_workspace,
)
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble
from tests.support.provisioning import REASON, REFUSED, claims, starting


POD = type(a_model_pod())
GROUP = "/subscriptions/1/resourceGroups/gpu-capacity-quota"
UNAVAILABLE = "all requested instance types were unavailable during launch"


CLEAR = {
    "serves": a_model(),
    "own nodes": a_model(a_workspace(changed_conditions={"NodeClaimReady": None})),
    "a claim changes under Ready pods": a_model(
        a_workspace(changed_conditions=claims("NodeNotReady"))
    ),
    "plugins come back under Ready pods": a_model(
        a_workspace(changed_conditions={"NodesReady": ("False", "NodePluginsNotReady")})
    ),
    "being deleted": a_model(a_workspace(changed_conditions=REFUSED, deleted=NOON)),
    "KAITO reports its deletion": a_model(
        a_workspace(
            changed_conditions={**REFUSED, "WorkspaceDeleting": ("True", "workspaceDeleted")}
        )
    ),
    "of another set": a_model(a_workspace("other-1", changed_conditions=REFUSED, of="other")),
    "a mirror of the model is on its way": starting(
        {"ResourceReady": ("False", "ModelMirrorNotReady")}
    ),
    "no Workspace yet": a_model(without=[type(a_workspace())]),
}


@pytest.mark.parametrize("objects", CLEAR.values(), ids=CLEAR.keys())
def test_nodes_that_are_provisioned_are_clear(objects):
    assert isinstance(verdict_of(REASON, *objects), Clear)


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
    changed_conditions = claims(reason, status=status, ResourceReady=("False", reason))
    found = only_trouble(verdict_of(REASON, *starting(changed_conditions, since=LONG_AGO)))
    assert (found.kind, found.cause.code, found.since) == (
        TroubleKind.STARTING,
        "NoProgress",
        LONG_AGO,
    )
    assert found.message_fields["state"] == f"NodeClaimReady={status} ({reason})"


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
    found = only_trouble(verdict_of(REASON, *starting(claims(reason, "why"))))
    assert (found.kind, found.cause.code, found.foreign_text) == (TroubleKind.FAILED, code, "why")


@pytest.mark.parametrize("reason", ["LaunchFailed", "CreateInstanceFailed"])
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (UNAVAILABLE, "Capacity"),
        (QUOTA, "Quota"),
        ("the requested SKU is unavailable for instance type", "Capacity"),
        ("unable to allocate resources in the selected zone (1)", "Capacity"),
        ("the client does not have authorization to perform the action", "Forbidden"),
        ("UnauthorizedOperation: You are not authorized to perform this operation", "Forbidden"),
        ("Required 'compute.instances.create' permission for the project", "Forbidden"),
        (f"AuthorizationFailed: no action over scope '{GROUP}'", "Forbidden"),
        (f"the client does not have authorization to perform action over '{GROUP}'", "Forbidden"),
        ("403 Forbidden: Quota 'GPUS_ALL_REGIONS' exceeded", "Quota"),
        ("the service is unavailable", "NodeClaimFailed"),
    ],
)
def test_a_failed_launch_is_reported_by_its_text(reason, text, code):
    found = only_trouble(verdict_of(REASON, *starting(claims(reason, text))))
    assert found.cause.code == code


def test_the_message_names_workspace_condition_and_error():
    assert rendered_message(verdict_of(REASON, *starting(REFUSED))) == (
        "GPU nodes are not provisioned: Workspace qwen-7rk2p NodeClaimReady=False"
        f" (SubscriptionQuotaReached): {QUOTA}."
    )


def test_a_provisioning_error_is_reported_whether_pods_still_serve_or_not():
    verdict = verdict_of(REASON, *a_model(a_workspace(changed_conditions=REFUSED)))
    assert only_trouble(verdict).kind is TroubleKind.FAILED


def test_the_condition_that_states_an_error_is_reported():
    changed_conditions = claims(
        "NodeClaimNotReady", ResourceReady=("False", "AllocationFailure", "none left")
    )
    found = only_trouble(verdict_of(REASON, *starting(changed_conditions)))
    assert (found.kind, found.cause.code, found.foreign_text) == (
        TroubleKind.FAILED,
        "Capacity",
        "none left",
    )
    assert found.message_fields["state"] == (
        "NodeClaimReady=False (NodeClaimNotReady, before that AllocationFailure)"
    )


def test_a_machine_that_was_given_makes_an_old_error_of_another_condition_void():
    changed_conditions = claims(
        "NodeNotFound", ResourceReady=("False", "AllocationFailure", "none left")
    )
    assert (
        only_trouble(verdict_of(REASON, *starting(changed_conditions))).kind
        is TroubleKind.STARTING
    )


def test_own_nodes_that_are_not_ready_are_waited_for():
    changed_conditions = {**WAITING_CONDITIONS, "NodeClaimReady": None}
    found = only_trouble(verdict_of(REASON, *starting(changed_conditions)))
    assert (found.kind, found.cause.code) == (TroubleKind.STARTING, "NodesNotReady")
    assert rendered_message(verdict_of(REASON, *starting(changed_conditions))).endswith(
        "NodesReady=False (NodeNotReady): Not enough Nodes are ready."
    )


def test_an_error_about_own_nodes_is_reported():
    changed_conditions = {
        **WAITING_CONDITIONS,
        "NodeClaimReady": None,
        "ResourceReady": ("False", "NodeLabelFailed", "x"),
    }
    assert (
        only_trouble(verdict_of(REASON, *starting(changed_conditions))).kind is TroubleKind.FAILED
    )


def test_drivers_that_do_not_come_are_waited_for():
    changed_conditions = {
        **WAITING_CONDITIONS,
        "NodeClaimReady": SERVING_CONDITIONS["NodeClaimReady"],
    }
    changed_conditions["NodesReady"] = (
        "False",
        "NodePluginsNotReady",
        "waiting all node plugins to be ready",
    )
    found = only_trouble(verdict_of(REASON, *starting(changed_conditions)))
    assert (found.kind, found.cause.code) == (TroubleKind.STARTING, "NodesNotReady")


def test_a_workspace_that_nobody_took_up_is_starting_since_it_was_made():
    made = a_workspace(bare=True, created_at=NOON)
    found = only_trouble(verdict_of(REASON, *a_model(made, without=[POD])))
    assert (found.kind, found.cause.code, found.since) == (
        TroubleKind.STARTING,
        "NoNodeClaim",
        NOON,
    )


def test_a_default_time_of_a_workspace_is_none():
    found = only_trouble(
        verdict_of(REASON, *starting(claims("NodeNotFound"), since=EPOCH, created_at=NOON))
    )
    assert found.since == NOON


def test_a_replica_that_fails_does_not_hide_behind_one_that_serves():
    second = a_workspace("qwen-b2", changed_conditions=REFUSED)
    found = only_trouble(verdict_of(REASON, *a_model(second)))
    assert found.cause.object.name == "qwen-b2"


def test_conditions_of_an_older_spec_of_a_workspace_are_unknown():
    verdict = verdict_of(REASON, *starting(REFUSED, generation=2, observed=1))
    assert isinstance(verdict, Unknown)
    assert "older than its spec" in verdict.why


def test_conditions_that_tell_no_generation_are_believed():
    assert only_trouble(verdict_of(REASON, *starting(REFUSED, generation=2, observed=0)))


def test_without_pods_in_sight_a_claim_that_changes_is_starting():
    store = a_model_store(
        *a_model(a_workspace(changed_conditions=claims("NodeNotReady")), without=[POD])
    )
    store.set_watch_state(PODS, NotSynced("forbidden"))
    assert only_trouble(verdict_of(REASON, store=store)).kind is TroubleKind.STARTING


@pytest.mark.parametrize("name", ["qwen-7rk2p", "qwen-never-read"])
def test_a_workspace_that_cannot_be_decoded_is_unknown(name):
    store = a_model_store(*a_model())
    store.mark_undecodable(WORKSPACES, "team-a", name)
    assert isinstance(verdict_of(REASON, store=store), Unknown)


def test_a_workspace_of_another_set_may_be_unreadable():
    store = a_model_store(*a_model())
    labels = {"inferenceset.kaito.sh/created-by": "llama"}
    metadata = AnnotatedMetadata(name="llama-1", namespace="team-a", labels=labels)
    store.mark_undecodable(WORKSPACES, "team-a", "llama-1", Workspace(metadata=metadata))
    assert isinstance(verdict_of(REASON, store=store), Clear)
