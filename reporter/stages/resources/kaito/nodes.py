"""
The conditions of a Workspace about the nodes that it requested.

KAITO copies reason and message of a NodeClaim into NodeClaimReady, and from there into ResourceReady
(KAITO, pkg/workspace/resource/node_claim.go and node.go). While a cloud has no capacity, Karpenter deletes the
claim and another one follows, so the reason alternates between the error and waiting. The transition
time moves with the status only and does not show this.
"""

import re

from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.kaito.workspaces import Workspace
from reporter.stages.resources.conditions import is_condition_true


NODE_CLAIM_READY = "NodeClaimReady"
RESOURCE_READY = "ResourceReady"
NODES_READY = "NodesReady"

WAITING_REASONS = frozenset(
    {
        "",
        "AwaitingReconciliation",
        "NodeClaimNotReady",
        "workspaceResourceStatusNotReady",
    }
)
"""Reasons for which no outcome is known yet. They do not end an error that was reported before."""

NODE_NOT_FOUND = "NodeNotFound"
UNREGISTERED_REASONS = WAITING_REASONS | {NODE_NOT_FOUND}
"""Reasons before a machine has registered as a Node."""

NODE_STARTING_REASONS = frozenset(
    {
        "DRADriverPoolsNotPublished",
        "KnownEphemeralTaintsExist",
        NODE_NOT_FOUND,
        "NodeNotReady",
        "NodePluginsNotReady",
        "RegistrationHookPending",
        "ResourceNotRegistered",
        "StartupTaintsExist",
    }
)
"""
Reasons after the cloud has provided a machine; healthy GPU nodes have them for about five minutes.

Karpenter writes most of them (pkg/controllers/nodeclaim/lifecycle), KAITO the one about plugins.
"""

MODEL_REASONS = frozenset({"ModelMirrorNotReady", "ModelMirrorPending"})
"""Reasons of ResourceReady that are about the model's files, not about nodes."""

TRANSIENT_REASONS = WAITING_REASONS | NODE_STARTING_REASONS | MODEL_REASONS


REGISTRATION_FAILED = "RegistrationFailed"
"""
Karpenter's reason on a NodePool whose machines were launched and did not register in time. It states none where
a cloud accepts a machine and gives up later: the claim is deleted, and only an Event AsyncProvisioningError tells
(karpenter-provider-azure, pkg/cloudprovider/cloudprovider.go).
"""


def is_registration_failure(error: Condition) -> bool:
    return error.reason == REGISTRATION_FAILED


def find_workspace_error(workspace: Workspace) -> Condition | None:
    """
    Return the condition that states a provisioning error: NodeClaimReady, else ResourceReady.
    """
    conditions = workspace.status.conditions
    claim_ready = find_condition(conditions, NODE_CLAIM_READY)
    resource_ready = find_condition(conditions, RESOURCE_READY)
    # Once there is a machine, ResourceReady repeats what the node or the model waits for.
    if is_condition_true(claim_ready) or (
        claim_ready is not None and claim_ready.reason in NODE_STARTING_REASONS
    ):
        return None
    for condition in (claim_ready, resource_ready):
        if (
            condition is not None
            and not is_condition_true(condition)
            and (condition.reason or "") not in TRANSIENT_REASONS
        ):
            return condition
    return None


def is_error_open(workspace: Workspace, error: Condition) -> bool:
    """
    Return whether the outcome of an earlier provisioning error is still open.

    It is while NodeClaimReady only reports waiting, because the next attempt may fail in the same
    way, and the Workspace states no other error. After machines that did not register, that there is
    another machine is no outcome either.
    """
    claim_ready = find_condition(workspace.status.conditions, NODE_CLAIM_READY)
    waiting = UNREGISTERED_REASONS if is_registration_failure(error) else WAITING_REASONS
    is_waiting = (
        claim_ready is not None
        and not is_condition_true(claim_ready)
        and (claim_ready.reason or "") in waiting
    )
    return is_waiting and find_workspace_error(workspace) is None


def has_lost_machine(old: Workspace, new: Workspace) -> bool:
    """
    Return whether the only machine of a Workspace went before its Node registered.

    KAITO copies where the first NodeClaim stands: with several, this one may be another (KAITO,
    pkg/nodeprovision/karpenter/provisioner.go).
    """
    before, after = (
        find_condition(each.status.conditions, NODE_CLAIM_READY) for each in (old, new)
    )
    return (
        new.status.target_node_count <= 1
        and before is not None
        and before.reason == NODE_NOT_FOUND
        and after is not None
        and not is_condition_true(after)
        and (after.reason or "") in WAITING_REASONS
    )


def nodes_ready(workspace: Workspace) -> bool:
    """
    Return whether all nodes are there, so that a pod that fits none of them stays Pending.

    KAITO writes no NodeClaimReady for nodes that users bring themselves. Its absence counts as that
    once KAITO has written any condition.
    """
    conditions = workspace.status.conditions
    claim_ready = find_condition(conditions, NODE_CLAIM_READY)
    nodes = find_condition(conditions, NODES_READY)
    if nodes is not None and nodes.status != "True":
        return False
    return is_condition_true(claim_ready) or (claim_ready is None and bool(conditions))


WORDS_OF_CODES = {
    "NotRegistered": re.compile(f"^{REGISTRATION_FAILED}$"),
    "Quota": re.compile("quota", re.IGNORECASE),
    "Capacity": re.compile(
        r"allocation ?fail|unable to allocate resources|sku ?(is )?(not ?|un)available"
        r"|capacity|unavailable during launch",
        re.IGNORECASE,
    ),
    "InstanceType": re.compile("instancetype", re.IGNORECASE),
}
"""
The words by which errors of nodes are told apart: of the reason, else of the message.

Karpenter's reason is mostly the general LaunchFailed or CreateInstanceFailed. SubscriptionQuotaReached,
SKUNotAvailable and ZonalAllocationFailure are what its provider for Azure notes in a cache, and no
reasons of conditions (karpenter-provider-azure, pkg/providers/instance/offerings).
"""


def classify_error(error: Condition) -> str:
    """Return the cause code of an error of nodes."""
    for text in (error.reason or "", error.message or ""):
        for code, words in WORDS_OF_CODES.items():
            if words.search(text):
                return code
    return "NodeClaimFailed"
