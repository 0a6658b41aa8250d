"""The last provisioning error of each Workspace, as the Workspace or its NodeClaim reported it."""

from collections import Counter
from collections.abc import Callable

from reporter.kinds.kaito import Workspace
from reporter.kinds.karpenter import NodeClaim
from reporter.kinds.objects import ApiObject, Condition, NamespacedName, find_condition
from reporter.resources.conditions import is_condition_true
from reporter.resources.machines import (
    LAUNCHED,
    LOSS_OF_MACHINES,
    NODE_CLAIM_READY,
    REGISTERED,
    find_claim_error,
    find_workspace_error,
    has_lost_machine,
    has_reached,
    is_error_open,
    is_loss_of_machines,
)
from reporter.snapshot.cow_map import CowMap, FrozenMap


MIN_LOST_MACHINES = 2
"""The number of machines that have to go before their Nodes register: one may be an accident."""


class ProvisioningErrors:
    """
    One condition for each Workspace with an error that it does not state itself, by its name.

    Nobody states why a machine that the cloud accepted is given up; that it happens again is told by
    the NodeClaims, or by what KAITO copies of them.
    """

    def __init__(self) -> None:
        self._errors: CowMap[NamespacedName, Condition] = CowMap()
        self._lost_machines: Counter[tuple[NamespacedName, type]] = Counter()
        self._with_new_claims: set[NamespacedName] = set()

    def on_upsert(self, old: ApiObject | None, new: ApiObject) -> None:
        if isinstance(new, Workspace):
            self._track(old, new)
        elif isinstance(new, NodeClaim):
            self._record_claim(new)
            self._follow_claim(old, new)

    def on_delete(
        self, old: ApiObject, is_workspace_absent: Callable[[NamespacedName], bool]
    ) -> None:
        """
        Forget the error of a deleted Workspace, and of a claim whose Workspace does not exist.
        """
        if isinstance(old, Workspace):
            self._forget((old.metadata.namespace, old.metadata.name))
        elif isinstance(old, NodeClaim) and is_workspace_absent(old.workspace):
            self._forget(old.workspace)
        elif isinstance(old, NodeClaim):
            self._follow_deleted_claim(old)

    def record_before(self, workspace: NamespacedName, error: Condition) -> None:
        """Keep what a predecessor remembered, unless this process knows better."""
        if self._errors.get(workspace) is None:
            self._errors[workspace] = error

    def _track(self, old: ApiObject | None, new: Workspace) -> None:
        """
        Update the error of a Workspace from its versions; one that it states itself is not kept twice.
        """
        name = (new.metadata.namespace, new.metadata.name)
        if is_condition_true(find_condition(new.status.conditions, NODE_CLAIM_READY)):
            self._forget_lost_machines(name)
        elif isinstance(old, Workspace) and has_lost_machine(old, new):
            self._count_lost_machine(name, Workspace)
        kept = self._errors.get(name)
        before = kept or (find_workspace_error(old) if isinstance(old, Workspace) else None)
        is_open = before is not None and not _is_older(before, new) and is_error_open(new, before)
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

    def _follow_claim(self, old: ApiObject | None, new: NodeClaim) -> None:
        if not new.workspace[1]:
            return
        if old is None:
            self._with_new_claims.add(new.workspace)
        was_registered = isinstance(old, NodeClaim) and has_reached(old, REGISTERED)
        if has_reached(new, REGISTERED) and not was_registered:
            self._forget_lost_machines(new.workspace)

    def _follow_deleted_claim(self, old: NodeClaim) -> None:
        """Count a machine that goes before its Node registers; several that go together once."""
        is_lost = has_reached(old, LAUNCHED) and not has_reached(old, REGISTERED)
        if is_lost and old.workspace in self._with_new_claims:
            self._with_new_claims.remove(old.workspace)
            self._count_lost_machine(old.workspace, NodeClaim)

    def _count_lost_machine(self, workspace: NamespacedName, teller: type) -> None:
        self._lost_machines[workspace, teller] += 1
        if self._lost_machines[workspace, teller] >= MIN_LOST_MACHINES:
            self._errors[workspace] = LOSS_OF_MACHINES

    def _forget_lost_machines(self, workspace: NamespacedName) -> None:
        for teller in (NodeClaim, Workspace):
            self._lost_machines.pop((workspace, teller), None)
        error = self._errors.get(workspace)
        if error is not None and is_loss_of_machines(error):
            self._errors.pop(workspace)

    def _forget(self, workspace: NamespacedName) -> None:
        self._forget_lost_machines(workspace)
        self._with_new_claims.discard(workspace)
        self._errors.pop(workspace)

    def snapshot(self) -> FrozenMap[NamespacedName, Condition]:
        return self._errors.freeze()


def _is_older(error: Condition, workspace: Workspace) -> bool:
    """
    Return whether an error is from before the Workspace: about an earlier one of the same name.
    """
    created, since = workspace.metadata.creation_timestamp, error.last_transition_time
    return created is not None and since is not None and since < created
