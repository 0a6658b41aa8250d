"""The restarts of the containers of model pods, by name of the pod."""

from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.ownership import CREATED_BY_LABEL
from reporter.model.kinds.core.pods import Pod
from reporter.stages.snapshot.cow_map import CowMap, FrozenMap
from reporter.stages.snapshot.restarts import RestartHistory, track_restarts


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
