"""
What a Workspace says of the nodes that it asked for.

KAITO copies the NodeClaim's reason into NodeClaimReady, and into ResourceReady. While a cloud refuses,
the provisioner deletes the claim and makes another, so that the reason changes to and fro between the
error and waiting; and a transition time moves with the status only.
"""

from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.kaito.workspaces import Workspace


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
"""
Nothing is known yet; what was refused before may be so again.
"""

NODE_STARTING_REASONS = frozenset(
    {
        "DRADriverPoolsNotPublished",
        "KnownEphemeralTaintsExist",
        "NodeNotFound",
        "NodeNotReady",
        "NodePluginsNotReady",
        "RegistrationHookPending",
        "ResourceNotRegistered",
        "StartupTaintsExist",
    }
)
"""
The cloud has given a machine; on every healthy GPU node some of these last for five minutes.
"""

MODEL_REASONS = frozenset({"ModelMirrorNotReady", "ModelMirrorPending"})
"""
Reasons of ResourceReady that are not about nodes.
"""

TRANSIENT_REASONS = WAITING_REASONS | NODE_STARTING_REASONS | MODEL_REASONS


def is_condition_true(found: Condition | None) -> bool:
    return found is not None and found.status == "True"


def find_workspace_error(workspace: Workspace) -> Condition | None:
    """
    The condition that states a real error, of NodeClaimReady and ResourceReady.
    """
    conditions = workspace.status.conditions
    claims, resources = (
        find_condition(conditions, NODE_CLAIM_READY),
        find_condition(conditions, RESOURCE_READY),
    )
    if is_condition_true(claims) or (
        claims is not None and claims.reason in NODE_STARTING_REASONS
    ):
        return None
    stated = (
        each for each in (claims, resources) if each is not None and not is_condition_true(each)
    )
    return next((each for each in stated if (each.reason or "") not in TRANSIENT_REASONS), None)


def last_workspace_error(before: Condition | None, workspace: Workspace) -> Condition | None:
    """
    The last real error, for as long as it is not overcome.
    """
    claims = find_condition(workspace.status.conditions, NODE_CLAIM_READY)
    waits = (
        claims is not None
        and not is_condition_true(claims)
        and (claims.reason or "") in WAITING_REASONS
    )
    return find_workspace_error(workspace) or (before if waits else None)


def nodes_ready(workspace: Workspace) -> bool:
    """
    Whether the nodes are there, so that a pod that fits none of them never will.

    Without a NodeClaimReady condition they are brought by the user, once KAITO has looked at all.
    """
    conditions = workspace.status.conditions
    claims, nodes = (
        find_condition(conditions, NODE_CLAIM_READY),
        find_condition(conditions, NODES_READY),
    )
    if nodes is not None and nodes.status != "True":
        return False
    return is_condition_true(claims) or (claims is None and bool(conditions))
