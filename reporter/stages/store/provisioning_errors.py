"""
The last provisioning error of each Workspace, as the Workspace or its NodeClaim reported it.
"""

from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.objects import NamespacedName
from reporter.model.kinds.kaito.workspaces import Workspace
from reporter.model.kinds.karpenter.node_claims import NodeClaim
from reporter.stages.resources.kaito.node_claims import find_claim_error
from reporter.stages.resources.kaito.nodes import last_workspace_error
from reporter.stages.snapshot.cow_map import CowMap, FrozenMap


class ProvisioningErrors:
    """
    One condition for each Workspace with an error, by its name.
    """

    def __init__(self) -> None:
        self._errors: CowMap[NamespacedName, Condition] = CowMap()

    def track(self, workspace: Workspace) -> None:
        """
        Update the error of a Workspace from its new version.
        """
        name = (workspace.metadata.namespace, workspace.metadata.name)
        before = self._errors.get(name)
        after = last_workspace_error(before, workspace)
        if after is None and before is not None:
            self._errors.pop(name)
        elif after is not None and after != before:
            self._errors[name] = after

    def record_claim(self, claim: NodeClaim) -> None:
        """
        Keep the error of a NodeClaim: it may be deleted before its Workspace reports the error.
        """
        error = find_claim_error(claim)
        if error is not None:
            self._errors[claim.workspace] = error

    def forget(self, workspace: NamespacedName) -> None:
        self._errors.pop(workspace)

    def snapshot(self) -> FrozenMap[NamespacedName, Condition]:
        return self._errors.freeze()
