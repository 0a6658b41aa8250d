"""The memory of objects beside their newest version, also once they are deleted."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from reporter.kinds import gateway_api, kaito, objects
from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.core import PODS, Pod
from reporter.kinds.karpenter import NODE_CLAIMS, NodeClaim
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
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
from reporter.snapshot import pod_runs
from reporter.snapshot.cow_map import BoundedMap, CowMap
from reporter.snapshot.seen_before import SeenBefore


# --------------------------------------------------------------------
# The routes, pools and Deployments of each InferenceSet that were deleted while it lives.
#
# Nothing refers to them any more once all of them are gone, so only this tells that they existed.


PART_RESOURCES = frozenset(
    {
        each.group_resource
        for each in (gateway_api.HTTP_ROUTES, gateway_api.INFERENCE_POOLS, DEPLOYMENTS)
    }
)

MAX_REMEMBERED = 10_000
MAX_PARTS = 8
"""The InferenceSets that are remembered, and the parts of each; the oldest are forgotten first."""


class DeletedParts:
    """
    The routes, pools and Deployments of living InferenceSets that were deleted.

    *kept*: by the index key of their InferenceSet, the last one at the end.
    """

    def __init__(self) -> None:
        self.kept: CowMap[str, tuple[ObjectRef, ...]] = BoundedMap(MAX_REMEMBERED)

    def on_upsert(self, old: objects.ApiObject | None, new: objects.ApiObject) -> None:
        """Forget a part that is there again, and those of an earlier InferenceSet of that name."""
        if not len(self.kept):
            return
        kind = _part_kind(new)
        if kind is not None:
            for name in _models_of(kind, new):
                for ref in _refs(kind, new):
                    self._put(name, ref, is_deleted=False)
        elif old is not None and isinstance(new, kaito.InferenceSet):
            meta = new.metadata
            if old.metadata.uid != meta.uid:
                self.kept.pop(objects.inference_set_key(meta.namespace, meta.name))

    def on_delete(
        self, old: objects.ApiObject, is_set_absent: Callable[[objects.NamespacedName], bool]
    ) -> None:
        """
        Remember a deleted part of an InferenceSet that exists; forget all parts of a deleted InferenceSet.

        *is_set_absent*: returns whether it is certain that there is no such InferenceSet.
        """
        kind = _part_kind(old)
        if kind is not None:
            for name in _models_of(kind, old):
                if not is_set_absent(name):
                    for ref in _refs(kind, old):
                        self._put(name, ref, is_deleted=True)
        elif isinstance(old, kaito.InferenceSet):
            self.kept.pop(objects.inference_set_key(old.metadata.namespace, old.metadata.name))

    def record_before(
        self, existed_of: Mapping[Subject, Iterable[ObjectRef]], missing: frozenset[ObjectRef]
    ) -> None:
        """Remember the parts that a predecessor knew and that are *missing*."""
        for subject, refs in existed_of.items():
            for ref in sorted(refs):
                if ref in missing and ref.resource in PART_RESOURCES:
                    self._put((subject.namespace, subject.name), ref, is_deleted=True)

    def forget_kind(self, kind: ResourceKind) -> None:
        """Forget the parts of a kind that is not watched any more."""
        for key in tuple(self.kept.keys()):
            refs = self.kept.get(key) or ()
            self._store(key, tuple(ref for ref in refs if ref.resource != kind.group_resource))

    def _put(self, model: objects.NamespacedName, ref: ObjectRef, *, is_deleted: bool) -> None:
        key = objects.inference_set_key(*model)
        before = self.kept.get(key) or ()
        if is_deleted or ref in before:
            others = tuple(each for each in before if each != ref)
            self._store(key, (*others, ref)[-MAX_PARTS:] if is_deleted else others)

    def _store(self, key: str, refs: tuple[ObjectRef, ...]) -> None:
        if refs:
            self.kept[key] = refs
        else:
            self.kept.pop(key)


def _part_kind(each: objects.ApiObject) -> ResourceKind | None:
    if isinstance(each, gateway_api.HTTPRoute):
        return gateway_api.HTTP_ROUTES
    if isinstance(each, gateway_api.InferencePool):
        return gateway_api.INFERENCE_POOLS
    return DEPLOYMENTS if isinstance(each, Deployment) else None


def _models_of(kind: ResourceKind, part: objects.ApiObject) -> set[objects.NamespacedName]:
    """Return the InferenceSets by which a part is looked up, existing or not."""
    return {
        (each.namespace, each.name)
        for each in kind.affects(part)
        if each.layer is Layer.MODELDEPLOYMENT and each.name
    }


def _refs(kind: ResourceKind, part: objects.ApiObject) -> tuple[ObjectRef, ...]:
    """
    Return a part, and the endpoint picker of a pool, which nothing else may show to be a part.

    It may outlive the pool, so it is deleted only if the table of its kind says so too.
    """
    ref = ObjectRef(kind.group_resource, part.metadata.namespace, part.metadata.name)
    picker = gateway_api.picker_ref(part) if isinstance(part, gateway_api.InferencePool) else None
    return (ref,) if picker is None else (picker, ref)


# --------------------------------------------------------------------
# The last provisioning error of each Workspace, as the Workspace or its NodeClaim reported it.


MIN_LOST_MACHINES = 2
"""The number of machines that have to go before their Nodes register: one may be an accident."""


class ProvisioningErrors:
    """
    The last provisioning errors of Workspaces that do not state them themselves.

    *kept*: the condition with the error, by namespace and name of the Workspace.

    Nobody states why a machine that the cloud accepted is given up. So that MIN_LOST_MACHINES go before
    they register, as the NodeClaims or KAITO's copies of their conditions show, is an error as well.
    """

    def __init__(self) -> None:
        self.kept: CowMap[objects.NamespacedName, objects.Condition] = CowMap()
        self._lost_machines: Counter[tuple[objects.NamespacedName, type]] = Counter()
        self._with_new_claims: set[objects.NamespacedName] = set()

    def on_upsert(self, old: objects.ApiObject | None, new: objects.ApiObject) -> None:
        """
        Follow the errors of a Workspace, or of a NodeClaim's Workspace; *old* is None for a new object.
        """
        if isinstance(new, kaito.Workspace):
            self._track(old, new)
        elif isinstance(new, NodeClaim):
            self._record_claim(new)
            self._follow_claim(old, new)

    def on_delete(
        self, old: objects.ApiObject, is_workspace_absent: Callable[[objects.NamespacedName], bool]
    ) -> None:
        """
        Forget the error of a deleted Workspace, and of a claim whose Workspace does not exist.
        """
        if isinstance(old, kaito.Workspace):
            self._forget((old.metadata.namespace, old.metadata.name))
        elif isinstance(old, NodeClaim) and is_workspace_absent(old.workspace):
            self._forget(old.workspace)
        elif isinstance(old, NodeClaim):
            self._follow_deleted_claim(old)

    def forget_claims(self) -> None:
        """Forget which machines NodeClaims told of; an error stays until its Workspace overcomes it."""
        for workspace, teller in list(self._lost_machines):
            if teller is NodeClaim:
                del self._lost_machines[workspace, teller]
        self._with_new_claims.clear()

    def record_before(self, workspace: objects.NamespacedName, error: objects.Condition) -> None:
        """Keep what a predecessor remembered, unless this process knows better."""
        if self.kept.get(workspace) is None:
            self.kept[workspace] = error

    def _track(self, old: objects.ApiObject | None, new: kaito.Workspace) -> None:
        """
        Update the error of a Workspace from its versions; one that it states itself is not kept twice.
        """
        name = (new.metadata.namespace, new.metadata.name)
        if is_condition_true(objects.find_condition(new.status.conditions, NODE_CLAIM_READY)):
            self._forget_lost_machines(name)
        elif isinstance(old, kaito.Workspace) and has_lost_machine(old, new):
            self._count_lost_machine(name, kaito.Workspace)
        kept = self.kept.get(name)
        before = kept or (find_workspace_error(old) if isinstance(old, kaito.Workspace) else None)
        is_open = before is not None and not _is_older(before, new) and is_error_open(new, before)
        after = before if is_open else None
        if after is None:
            self.kept.pop(name)
        elif after != kept:
            self.kept[name] = after

    def _record_claim(self, claim: NodeClaim) -> None:
        """
        Keep the error of a NodeClaim: it may be deleted before its Workspace reports the error.

        It may also be known before its Workspace is, which comes from another watch.
        """
        error = find_claim_error(claim)
        if error is not None and claim.workspace[1]:
            self.kept[claim.workspace] = error

    def _follow_claim(self, old: objects.ApiObject | None, new: NodeClaim) -> None:
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

    def _count_lost_machine(self, workspace: objects.NamespacedName, teller: type) -> None:
        self._lost_machines[workspace, teller] += 1
        if self._lost_machines[workspace, teller] >= MIN_LOST_MACHINES:
            self.kept[workspace] = LOSS_OF_MACHINES

    def _forget_lost_machines(self, workspace: objects.NamespacedName) -> None:
        for teller in (NodeClaim, kaito.Workspace):
            self._lost_machines.pop((workspace, teller), None)
        error = self.kept.get(workspace)
        if error is not None and is_loss_of_machines(error):
            self.kept.pop(workspace)

    def _forget(self, workspace: objects.NamespacedName) -> None:
        self._forget_lost_machines(workspace)
        self._with_new_claims.discard(workspace)
        self.kept.pop(workspace)


def _is_older(error: objects.Condition, workspace: kaito.Workspace) -> bool:
    """
    Return whether an error is from before the Workspace: about an earlier one of the same name.
    """
    created, since = workspace.metadata.creation_timestamp, error.last_transition_time
    return created is not None and since is not None and since < created


# --------------------------------------------------------------------
# The pods of StatefulSets that failed since they were last Ready, by name.


MAX_NAMES = 10_000
"""The number of names that are remembered; beyond it the oldest are forgotten first."""


class PodFailures:
    """
    The failures of pods whose successors get the same name, since one was last Ready.

    *kept*: by namespace and name of the pod.
    """

    def __init__(self) -> None:
        self.kept: CowMap[objects.NamespacedName, pod_runs.FailedPods] = BoundedMap(MAX_NAMES)

    def on_upsert(self, new: Pod) -> None:
        """
        Note a failure of a pod whose successor will have its name.

        Forget the failures of a name once its pod is Ready.
        """
        # Most stacks remember no failure, and most pods have none.
        if new.status.phase != pod_runs.FAILED and not len(self.kept):
            return
        name = (new.metadata.namespace, new.metadata.name)
        before = self.kept.get(name)
        if before is None and (
            new.status.phase != pod_runs.FAILED or not pod_runs.is_replaced_by_name(new)
        ):
            return
        after = pod_runs.track_failures(before, new)
        if after is None:
            self.kept.pop(name)
        elif after != before:
            self.kept[name] = after

    def on_delete(self, old: objects.ApiObject) -> None:
        """
        Forget a pod that was deleted for another reason than its failure: nothing replaces it.
        """
        if isinstance(old, Pod) and old.status.phase != pod_runs.FAILED:
            self.kept.pop((old.metadata.namespace, old.metadata.name))


# --------------------------------------------------------------------
# The restarts of the containers of model pods, by name of the pod.


class PodRestarts:
    """
    The restarts of the containers of model pods.

    *kept*: by namespace and name of the pod, which is forgotten when it is deleted.
    """

    def __init__(self) -> None:
        self.kept: CowMap[objects.NamespacedName, pod_runs.RestartHistory] = CowMap()

    def on_upsert(self, old: objects.ApiObject | None, new: Pod) -> None:
        """Note the restarts of a model's pod; pods without KAITO's label are left out."""
        if not new.metadata.label(objects.CREATED_BY_LABEL):
            return
        name = (new.metadata.namespace, new.metadata.name)
        before = self.kept.get(name)
        after = pod_runs.track_restarts(before, old if isinstance(old, Pod) else None, new)
        if after is None:
            self.kept.pop(name)
        elif after != before:
            self.kept[name] = after

    def on_delete(self, old: objects.ApiObject) -> None:
        """Forget the restarts of a deleted pod; its successor begins anew."""
        if isinstance(old, Pod):
            self.kept.pop((old.metadata.namespace, old.metadata.name))


IsAbsentFunc: TypeAlias = Callable[[ResourceKind, objects.NamespacedName], bool]
"""Returns whether it is certain that there is no such object."""


class ObjectHistory:
    """Failures and restarts of pods, last errors of nodes, and deleted parts of InferenceSets."""

    def __init__(self) -> None:
        self.pod_failures = PodFailures()
        self.pod_restarts = PodRestarts()
        self.provisioning_errors = ProvisioningErrors()
        self.deleted_parts = DeletedParts()

    def forget_all(self, kind: ResourceKind) -> None:
        """
        Forget all that objects of a kind have told: it is not watched any more, so changes are missed.
        """
        if kind is PODS:
            self.pod_failures, self.pod_restarts = PodFailures(), PodRestarts()
        elif kind is kaito.WORKSPACES:
            self.provisioning_errors = ProvisioningErrors()
        elif kind is NODE_CLAIMS:
            self.provisioning_errors.forget_claims()
        else:
            self.deleted_parts.forget_kind(kind)

    def record_seen_before(
        self, seen: SeenBefore, missing: frozenset[ObjectRef], is_absent: IsAbsentFunc
    ) -> None:
        """
        Remember what a predecessor has seen. *missing*: the objects that existed and do not exist now.

        An error that is remembered here may be over: the next `on_upsert` of its Workspace then drops it.
        """
        living = {
            subject: refs
            for subject, refs in seen.existed_of.items()
            if not is_absent(kaito.INFERENCE_SETS, (subject.namespace, subject.name))
        }
        self.deleted_parts.record_before(living, missing)
        for name, error in seen.errors.items():
            if not is_absent(kaito.WORKSPACES, name):
                self.provisioning_errors.record_before(name, error)

    def on_upsert(self, old: objects.ApiObject | None, new: objects.ApiObject) -> None:
        """
        Let each history note what a new version of an object tells; *old* is None for a new object.
        """
        # Called for each object of a list, most of which are pods.
        if isinstance(new, Pod):
            self.pod_failures.on_upsert(new)
            self.pod_restarts.on_upsert(old, new)
        else:
            self.provisioning_errors.on_upsert(old, new)
            self.deleted_parts.on_upsert(old, new)

    def on_delete(self, old: objects.ApiObject, is_absent: IsAbsentFunc) -> None:
        """
        Let each history forget or keep what a deleted object told.

        *is_absent* tells which owners are gone.
        """
        self.pod_failures.on_delete(old)
        self.pod_restarts.on_delete(old)
        self.provisioning_errors.on_delete(old, lambda name: is_absent(kaito.WORKSPACES, name))
        self.deleted_parts.on_delete(old, lambda name: is_absent(kaito.INFERENCE_SETS, name))
