"""
Partial objects of the node provisioner.
"""

from reporter.model.kinds.objects import ApiObject, ApiStruct, Condition


KARPENTER_WORKSPACE_LABELS = (
    "karpenter.kaito.sh/workspace-namespace",
    "karpenter.kaito.sh/workspace-name",
)
GPU_PROVISIONER_WORKSPACE_LABELS = ("kaito.sh/workspacenamespace", "kaito.sh/workspace")
"""
The labels with the namespace and the name of the Workspace that a NodeClaim is for.
"""

INFERENCE_SET_LABEL = "karpenter.kaito.sh/inferenceset"


class NodeClaimStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class NodeClaim(ApiObject, frozen=True):
    status: NodeClaimStatus = NodeClaimStatus()

    @property
    def workspace(self) -> tuple[str, str]:
        """
        Namespace and name; empty if it is nobody's.
        """
        for namespace, name in (KARPENTER_WORKSPACE_LABELS, GPU_PROVISIONER_WORKSPACE_LABELS):
            if self.metadata.label(name):
                return self.metadata.label(namespace), self.metadata.label(name)
        return "", ""
