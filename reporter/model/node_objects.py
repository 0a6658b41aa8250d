"""
Partial objects of the node provisioner.
"""

from reporter.model.objects import ApiObject, Condition, Part


KARPENTER = ("karpenter.kaito.sh/workspace-namespace", "karpenter.kaito.sh/workspace-name")
GPU_PROVISIONER = ("kaito.sh/workspacenamespace", "kaito.sh/workspace")
"""
The labels with the namespace and the name of the Workspace that a NodeClaim is for.
"""

INFERENCE_SET = "karpenter.kaito.sh/inferenceset"


class NodeClaimStatus(Part, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class NodeClaim(ApiObject, frozen=True):
    status: NodeClaimStatus = NodeClaimStatus()

    @property
    def workspace(self) -> tuple[str, str]:
        """
        Namespace and name; empty if it is nobody's.
        """
        for namespace, name in (KARPENTER, GPU_PROVISIONER):
            if self.metadata.label(name):
                return self.metadata.label(namespace), self.metadata.label(name)
        return "", ""
