"""The memory of objects beside their newest version, also once they are deleted."""

from collections.abc import Callable
from typing import TypeAlias

from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.kinds.kaito.workspaces import WORKSPACES
from reporter.model.records.seen_before import SeenBefore
from reporter.model.verdicts import ObjectRef
from reporter.stages.store.history.deleted_parts import DeletedParts
from reporter.stages.store.history.pod_failures import PodFailures
from reporter.stages.store.history.pod_restarts import PodRestarts
from reporter.stages.store.history.provisioning_errors import ProvisioningErrors


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
