"""Karpenter: NodeClaims of the node provisioner, and NodePools, of which KAITO makes one a Workspace."""

from reporter.kinds.objects import ApiObject, ApiStruct, Condition, NamespacedName, workspace_key
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import Subject


KARPENTER_WORKSPACE_LABELS = (
    "karpenter.kaito.sh/workspace-namespace",
    "karpenter.kaito.sh/workspace-name",
)
GPU_PROVISIONER_WORKSPACE_LABELS = ("kaito.sh/workspacenamespace", "kaito.sh/workspace")
"""The labels with the namespace and the name of the Workspace that a NodeClaim is for."""

NODE_CLAIM_INFERENCE_SET_LABEL = "karpenter.kaito.sh/inferenceset"


class NodeClaimStatus(ApiStruct, frozen=True):
    """
    The conditions of a claim. Launched, Registered and Initialized become True one after the other.
    """

    conditions: tuple[Condition, ...] | None = ()


class NodeClaim(ApiObject, frozen=True):
    """A NodeClaim; it is cluster-scoped and names its Workspace by labels."""

    status: NodeClaimStatus = NodeClaimStatus()

    @property
    def workspace(self) -> NamespacedName:
        """The Workspace that the claim is for, ("", "") if it names none."""
        return workspace_named_by(self)


def workspace_named_by(about: ApiObject) -> NamespacedName:
    """Return the Workspace that an object is for by its labels, ("", "") if they name none."""
    for namespace, name in (KARPENTER_WORKSPACE_LABELS, GPU_PROVISIONER_WORKSPACE_LABELS):
        if about.metadata.label(name):
            return about.metadata.label(namespace), about.metadata.label(name)
    return "", ""


def node_claim_keys(about: ApiObject) -> tuple[str, ...]:
    """Index a NodeClaim or a NodePool by its Workspace."""
    namespace, name = workspace_named_by(about)
    return (workspace_key(namespace, name),) if name else ()


def node_claim_affects(about: ApiObject) -> tuple[Subject, ...]:
    """
    Return the model that the object names; without a name, every model of the Workspace's namespace.
    """
    namespace, name = workspace_named_by(about)
    inference_set = about.metadata.label(NODE_CLAIM_INFERENCE_SET_LABEL)
    return (Subject(Layer.MODELDEPLOYMENT, namespace, inference_set),) if name else ()


NODE_CLAIMS = ResourceKind(
    resource="nodeclaims",
    group="karpenter.sh",
    versions=("v1",),
    kind="NodeClaim",
    type=NodeClaim,
    index_keys=node_claim_keys,
    affects=node_claim_affects,
)


class NodePoolStatus(ApiStruct, frozen=True):
    """
    The conditions of a NodePool. NodeRegistrationHealthy is False if its machines do not become nodes.
    """

    conditions: tuple[Condition, ...] | None = ()


class NodePool(ApiObject, frozen=True):
    """A NodePool; it is cluster-scoped, and has the labels of its NodeClaims."""

    status: NodePoolStatus = NodePoolStatus()


NODE_POOLS = ResourceKind(
    resource="nodepools",
    group="karpenter.sh",
    versions=("v1",),
    kind="NodePool",
    type=NodePool,
    index_keys=node_claim_keys,
    affects=node_claim_affects,
)
