"""
The last deleted Deployment of each InferenceSet that only its label tells.

A deletion is otherwise remembered by name alone, and a chart may name its endpoint picker differently.
"""

from reporter.model.kinds.base.keys import inference_set_keys
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import ENDPOINT_PICKER_SUFFIX
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.cow_map import CowMap, FrozenMap


MAX_REMEMBERED = 10_000


class LabelledDeployments:
    """
    The deleted Deployments by the index key of their InferenceSet.
    """

    def __init__(self) -> None:
        self._deleted: CowMap[str, ObjectRef] = CowMap()
        self._keys: dict[str, None] = {}

    def on_delete(self, old: ApiObject) -> None:
        meta = old.metadata
        if not isinstance(old, Deployment) or meta.name.endswith(ENDPOINT_PICKER_SUFFIX):
            return
        for key in inference_set_keys(old):
            self._deleted[key] = ObjectRef(DEPLOYMENTS.group_resource, meta.namespace, meta.name)
            self._keys[key] = None
        if len(self._keys) > MAX_REMEMBERED:
            oldest = next(iter(self._keys))
            del self._keys[oldest]
            self._deleted.pop(oldest)

    def snapshot(self) -> FrozenMap[str, ObjectRef]:
        return self._deleted.freeze()
