"""The pods of StatefulSets that failed since they were last Ready, by name."""

from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.core.pods import Pod
from reporter.stages.snapshot.cow_map import CowMap, FrozenMap
from reporter.stages.snapshot.failed_pods import (
    FAILED,
    FailedPods,
    is_replaced_by_name,
    track_failures,
)


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
