"""
What a Workspace says of the nodes that it asked for.

KAITO copies the NodeClaim's reason into NodeClaimReady, and into ResourceReady. While a cloud refuses,
the provisioner deletes the claim and makes another, so that the reason changes to and fro between the
error and waiting; and a transition time moves with the status only.
"""

from reporter.model.kaito_objects import Workspace
from reporter.model.objects import Condition, condition


CLAIMS = "NodeClaimReady"
RESOURCES = "ResourceReady"
NODES = "NodesReady"

WAITING = frozenset(
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

COMING = frozenset(
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

OF_THE_MODEL = frozenset({"ModelMirrorNotReady", "ModelMirrorPending"})
"""
Reasons of ResourceReady that are not about nodes.
"""

TRANSIENT = WAITING | COMING | OF_THE_MODEL


def holds(found: Condition | None) -> bool:
    return found is not None and found.status == "True"


def refusal(workspace: Workspace) -> Condition | None:
    """
    The condition that states a real error, of NodeClaimReady and ResourceReady.
    """
    conditions = workspace.status.conditions
    claims, resources = condition(conditions, CLAIMS), condition(conditions, RESOURCES)
    if holds(claims) or (claims is not None and claims.reason in COMING):
        return None
    stated = (each for each in (claims, resources) if each is not None and not holds(each))
    return next((each for each in stated if (each.reason or "") not in TRANSIENT), None)


def remember(before: Condition | None, workspace: Workspace) -> Condition | None:
    """
    The last real error, for as long as it is not overcome.
    """
    claims = condition(workspace.status.conditions, CLAIMS)
    waits = claims is not None and not holds(claims) and (claims.reason or "") in WAITING
    return refusal(workspace) or (before if waits else None)


def came(workspace: Workspace) -> bool:
    """
    Whether the nodes are there, so that a pod that fits none of them never will.

    Without a NodeClaimReady condition they are brought by the user, once KAITO has looked at all.
    """
    conditions = workspace.status.conditions
    claims, nodes = condition(conditions, CLAIMS), condition(conditions, NODES)
    if nodes is not None and nodes.status != "True":
        return False
    return holds(claims) or (claims is None and bool(conditions))
