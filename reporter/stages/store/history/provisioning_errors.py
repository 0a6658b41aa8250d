"""
The last provisioning error of each Workspace, as the Workspace or its NodeClaim reported it.
"""

from collections.abc import Callable

from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.kaito.workspaces import Workspace
from reporter.model.kinds.karpenter.node_claims import NodeClaim
from reporter.stages.resources.kaito.node_claims import find_claim_error
from reporter.stages.resources.kaito.nodes import find_workspace_error, is_error_open
from reporter.stages.snapshot.cow_map import CowMap, FrozenMap


class ProvisioningErrors:
    """
    One condition for each Workspace with an error that it does not state itself, by its name.
    """

    def __init__(self) -> None:
        self._errors: CowMap[NamespacedName, Condition] = CowMap()

    def on_upsert(self, old: ApiObject | None, new: ApiObject) -> None:
        if isinstance(new, Workspace):
            self._track(old, new)
        elif isinstance(new, NodeClaim):
            self._record_claim(new)

    def on_delete(
        self, old: ApiObject, is_workspace_absent: Callable[[NamespacedName], bool]
    ) -> None:
        """
        Forget the error of a deleted Workspace, and of a claim whose Workspace does not exist.
        """
        if isinstance(old, Workspace):
            self._errors.pop((old.metadata.namespace, old.metadata.name))
        elif isinstance(old, NodeClaim) and is_workspace_absent(old.workspace):
            self._errors.pop(old.workspace)

    def record_before(self, workspace: NamespacedName, error: Condition) -> None:
        """
        Keep what a predecessor remembered, unless this process knows better.
        """
        if self._errors.get(workspace) is None:
            self._errors[workspace] = error

    def _track(self, old: ApiObject | None, new: Workspace) -> None:
        """
        Update the error of a Workspace from its versions; one that it states itself is not kept twice.
        """
        name = (new.metadata.namespace, new.metadata.name)
        kept = self._errors.get(name)
        before = kept or (find_workspace_error(old) if isinstance(old, Workspace) else None)
        is_open = before is not None and not _is_older(before, new) and is_error_open(new)
        after = before if is_open else None
        if after is None and kept is not None:
            self._errors.pop(name)
        elif after is not None and after != kept:
            self._errors[name] = after

    def _record_claim(self, claim: NodeClaim) -> None:
        """
        Keep the error of a NodeClaim: it may be deleted before its Workspace reports the error.

        It may also be known before its Workspace is, which comes from another watch.
        """
        error = find_claim_error(claim)
        if error is not None and claim.workspace[1]:
            self._errors[claim.workspace] = error

    def snapshot(self) -> FrozenMap[NamespacedName, Condition]:
        return self._errors.freeze()


def _is_older(error: Condition, workspace: Workspace) -> bool:
    """
    Return whether an error is from before the Workspace: about an earlier one of the same name.
    """
    created, since = workspace.metadata.creation_timestamp, error.last_transition_time
    return created is not None and since is not None and since < created
