"""The memory of objects beside their newest version, also once they are deleted."""

from collections.abc import Callable
from typing import TypeAlias

from reporter.kinds.core import PODS, Pod
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES
from reporter.kinds.objects import CREATED_BY_LABEL, ApiObject, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.verdicts import ObjectRef
from reporter.snapshot.cow_map import CowMap, FrozenMap
from reporter.snapshot.pod_runs import (
    FAILED,
    FailedPods,
    RestartHistory,
    is_replaced_by_name,
    track_failures,
    track_restarts,
)
from reporter.snapshot.seen_before import SeenBefore
from reporter.store.deleted_parts import DeletedParts
from reporter.store.provisioning_errors import ProvisioningErrors


# --------------------------------------------------------------------
# The pods of StatefulSets that failed since they were last Ready, by name.


MAX_NAMES = 10_000
"""The number of names that are remembered; beyond it the oldest are forgotten first."""


class PodFailures:
    """The failures by namespace and name of the pod."""

    def __init__(self) -> None:
        self._failures: CowMap[NamespacedName, FailedPods] = CowMap()
        self._names: dict[NamespacedName, None] = {}

    def on_upsert(self, new: Pod) -> None:
        # Most stacks remember no failure, and most pods have none.
        if new.status.phase != FAILED and not self._names:
            return
        name = (new.metadata.namespace, new.metadata.name)
        before = self._failures.get(name)
        if before is None and (new.status.phase != FAILED or not is_replaced_by_name(new)):
            return
        after = track_failures(before, new)
        if after is None:
            self._forget(name)
        elif after != before:
            self._failures[name] = after
            self._names[name] = None
            if len(self._names) > MAX_NAMES:
                self._forget(next(iter(self._names)))

    def on_delete(self, old: ApiObject) -> None:
        """
        Forget a pod that was deleted for another reason than its failure: nothing replaces it.
        """
        if isinstance(old, Pod) and old.status.phase != FAILED:
            self._forget((old.metadata.namespace, old.metadata.name))

    def _forget(self, name: NamespacedName) -> None:
        if self._names.pop(name, name) is None:
            self._failures.pop(name)

    def snapshot(self) -> FrozenMap[NamespacedName, FailedPods]:
        return self._failures.freeze()


# --------------------------------------------------------------------
# The restarts of the containers of model pods, by name of the pod.


class PodRestarts:
    """
    The restarts by namespace and name of the pod.

    A pod is forgotten when it is deleted, so there are no more of them than pods.
    """

    def __init__(self) -> None:
        self._restarts: CowMap[NamespacedName, RestartHistory] = CowMap()

    def on_upsert(self, old: ApiObject | None, new: ApiObject) -> None:
        if not isinstance(new, Pod) or not new.metadata.label(CREATED_BY_LABEL):
            return
        name = (new.metadata.namespace, new.metadata.name)
        before = self._restarts.get(name)
        after = track_restarts(before, old if isinstance(old, Pod) else None, new)
        if after is None:
            self._forget(name)
        elif after != before:
            self._restarts[name] = after

    def on_delete(self, old: ApiObject) -> None:
        if isinstance(old, Pod):
            self._forget((old.metadata.namespace, old.metadata.name))

    def _forget(self, name: NamespacedName) -> None:
        if self._restarts.get(name) is not None:
            self._restarts.pop(name)

    def snapshot(self) -> FrozenMap[NamespacedName, RestartHistory]:
        return self._restarts.freeze()


IsAbsentFunc: TypeAlias = Callable[[ResourceKind, NamespacedName], bool]
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
        Forget what a kind has told that is not watched any more: what follows would not be seen.
        """
        if kind is PODS:
            self.pod_failures, self.pod_restarts = PodFailures(), PodRestarts()
        elif kind is WORKSPACES:
            self.provisioning_errors = ProvisioningErrors()
        else:
            self.deleted_parts.forget_kind(kind)

    def record_seen_before(
        self, seen: SeenBefore, missing: frozenset[ObjectRef], is_absent: IsAbsentFunc
    ) -> None:
        """
        Remember what a predecessor has seen. *missing*: the objects that existed and do not.

        The errors of Workspaces that exist are those that `on_upsert` keeps when it sees them next.
        """
        living = {
            subject: refs
            for subject, refs in seen.existed_of.items()
            if not is_absent(INFERENCE_SETS, (subject.namespace, subject.name))
        }
        self.deleted_parts.record_before(living, missing)
        for name, error in seen.errors.items():
            if not is_absent(WORKSPACES, name):
                self.provisioning_errors.record_before(name, error)

    def on_upsert(self, old: ApiObject | None, new: ApiObject) -> None:
        # Called for each object of a list, most of which are pods.
        if isinstance(new, Pod):
            self.pod_failures.on_upsert(new)
            self.pod_restarts.on_upsert(old, new)
        else:
            self.provisioning_errors.on_upsert(old, new)
            self.deleted_parts.on_upsert(old, new)

    def on_delete(self, old: ApiObject, is_absent: IsAbsentFunc) -> None:
        self.pod_failures.on_delete(old)
        self.pod_restarts.on_delete(old)
        self.provisioning_errors.on_delete(old, lambda name: is_absent(WORKSPACES, name))
        self.deleted_parts.on_delete(old, lambda name: is_absent(INFERENCE_SETS, name))
