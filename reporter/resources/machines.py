"""The machines of a Workspace, from its own conditions and from its NodeClaims."""

import re
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from reporter.kinds.kaito import Workspace
from reporter.kinds.karpenter import NodeClaim, NodePool
from reporter.kinds.objects import Condition, find_condition
from reporter.resources.conditions import (
    check_observed_generation,
    exclude_deleting,
    is_condition_true,
    transition_time,
)


# --------------------------------------------------------------------
# The conditions of a Workspace about the nodes that it requested.
#
# KAITO copies reason and message of a NodeClaim into NodeClaimReady, and from there into ResourceReady
# (KAITO, pkg/workspace/resource/node_claim.go and node.go). While a cloud has no capacity, Karpenter
# deletes the claim and another one follows, so the reason alternates between the error and waiting. The
# transition time moves with the status only and does not show this.


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
Karpenter's reason on a NodePool whose machines were launched and did not register in time. It states
none where a cloud accepts a machine and gives up later: the claim is deleted, and only an Event
AsyncProvisioningError tells (karpenter-provider-azure, pkg/cloudprovider/cloudprovider.go).
"""


def is_registration_failure(error: Condition) -> bool:
    """
    Return whether an error is that machines did not register as nodes, not that there was no machine.
    """
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


def nodes_ready_at(workspace: Workspace) -> datetime | None:
    """
    Return since when all nodes are there, by the conditions that state it; None if none does.
    """
    conditions = workspace.status.conditions
    stated = (find_condition(conditions, type_) for type_ in (NODE_CLAIM_READY, NODES_READY))
    times = [transition_time(each, workspace.metadata) for each in stated if each is not None]
    return max((each for each in times if each is not None), default=None)


WORDS_OF_CODES = (
    ("NotRegistered", re.compile(f"^{REGISTRATION_FAILED}$")),
    # Such an error quotes names, which may hold any of the words below.
    (
        "Forbidden",
        re.compile(
            r"authorization ?failed|not have authorization|unauthorized ?operation"
            r"|not authorized to perform",
            re.IGNORECASE,
        ),
    ),
    ("Quota", re.compile("quota", re.IGNORECASE)),
    (
        "Capacity",
        re.compile(
            r"allocation ?fail|unable to allocate resources|sku ?(is )?(not ?|un)available"
            r"|capacity|unavailable during launch",
            re.IGNORECASE,
        ),
    ),
    ("InstanceType", re.compile("instancetype", re.IGNORECASE)),
    (
        "Forbidden",
        re.compile(
            r"authorization|unauthorized|access ?denied|forbidden|permission", re.IGNORECASE
        ),
    ),
)
"""
The words by which errors of nodes are told apart, in this order: of the reason, else of the message.

Karpenter's reason is mostly the general LaunchFailed or CreateInstanceFailed. SubscriptionQuotaReached,
SKUNotAvailable and ZonalAllocationFailure are what its provider for Azure notes in a cache, and no
reasons of conditions (karpenter-provider-azure, pkg/providers/instance/offerings).
"""


def classify_error(error: Condition) -> str:
    """Return the cause code of an error of nodes by words in its reason, else in its message."""
    for text in (error.reason or "", error.message or ""):
        for code, words in WORDS_OF_CODES:
            if words.search(text):
                return code
    return "NodeClaimFailed"


# --------------------------------------------------------------------
# The NodeClaims of a Workspace, which report earlier and more than what KAITO copies of them.
#
# Karpenter launches a machine, which registers as a Node and is then initialized. It deletes a claim
# that could not be launched for lack of capacity, and another claim follows
# (Karpenter, pkg/controllers/nodeclaim/lifecycle).


LAUNCHED = "Launched"
REGISTERED = "Registered"
LIFECYCLE_CONDITIONS = (LAUNCHED, REGISTERED, "Initialized")
REGISTRATION_HEALTHY = "NodeRegistrationHealthy"
"""The condition of a NodePool that keeps reason and message of nodes that are not created."""

LOSS_OF_MACHINES = Condition(REGISTERED, "False", REGISTRATION_FAILED)
"""
The error that only claims show which come and go: machines are given up before their Nodes register.
"""


class StuckNodeClaim(Struct, frozen=True):
    """A claim whose lifecycle has not got further; *pending* is the condition that is not True."""

    name: str
    pending: Condition

    @property
    def has_error(self) -> bool:
        """True if *pending* states an error; False while the claim only waits."""
        return _is_error(self.pending)


def find_stuck_claim(claims: Iterable[NodeClaim]) -> StuckNodeClaim | None:
    """
    Return a claim with an error, else the first that waits; None if every claim is initialized.
    """
    conditions = (
        (each.metadata.name, _pending_condition(each)) for each in exclude_deleting_claims(claims)
    )
    stuck = [StuckNodeClaim(name, pending) for name, pending in conditions if pending is not None]
    return next((each for each in stuck if each.has_error), stuck[0] if stuck else None)


def find_claim_error(claim: NodeClaim) -> Condition | None:
    """Return the condition that states an error; None for a claim that is being deleted."""
    pending = _pending_condition(claim) if exclude_deleting_claims([claim]) else None
    return pending if pending is not None and _is_error(pending) else None


def find_pool_error(pools: Iterable[NodePool]) -> Condition | None:
    """
    Return why NodePools get no nodes, as Karpenter states after several attempts.

    Claims may not live long enough to be asked (karpenter, pkg/controllers/nodeclaim/lifecycle).
    """
    for pool in exclude_deleting(pools):
        healthy = find_condition(pool.status.conditions, REGISTRATION_HEALTHY)
        if healthy is not None and healthy.status == "False":
            stale = check_observed_generation(healthy, pool.metadata, "NodePool")
            return None if stale else healthy
    return None


def is_overcome(error: Condition, claims: Iterable[NodeClaim], nodes: int) -> bool:
    """
    Return whether an error is over: there are as many claims as *nodes*, and each has launched a machine.

    After machines that did not register as Nodes, each must have registered one.
    """
    step = REGISTERED if is_registration_failure(error) else LAUNCHED
    reached = [has_reached(each, step) for each in exclude_deleting_claims(claims)]
    return len(reached) >= max(nodes, 1) and all(reached)


def is_loss_of_machines(error: Condition) -> bool:
    """
    Return whether an error is LOSS_OF_MACHINES, which no object states and the history of claims tells.
    """
    return error.type == REGISTERED and is_registration_failure(error)


def has_reached(claim: NodeClaim, step: str) -> bool:
    """Return whether a claim has reached a step of its lifecycle, such as LAUNCHED."""
    return is_condition_true(find_condition(claim.status.conditions, step))


def exclude_deleting_claims(claims: Iterable[NodeClaim]) -> list[NodeClaim]:
    """
    Exclude claims that are being deleted or whose machine terminates; new claims replace them.
    """
    return [
        each
        for each in exclude_deleting(claims)
        if not is_condition_true(find_condition(each.status.conditions, "InstanceTerminating"))
    ]


def _pending_condition(claim: NodeClaim) -> Condition | None:
    """Return the first error among the conditions that are not True, else the first of these."""
    conditions = (find_condition(claim.status.conditions, type_) for type_ in LIFECYCLE_CONDITIONS)
    current = [
        each
        for each in conditions
        if each is not None
        and not is_condition_true(each)
        and not check_observed_generation(each, claim.metadata, "NodeClaim")
    ]
    return next(filter(_is_error, current), current[0] if current else None)


def _is_error(condition: Condition) -> bool:
    """
    Return whether a condition states an error. One without a message is none to KAITO either.
    """
    return (condition.reason or "") not in TRANSIENT_REASONS and bool(condition.message)
