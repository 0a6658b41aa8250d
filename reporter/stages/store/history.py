"""
What is remembered of objects that do not exist any more, beside their names.
"""

from reporter.model.kinds.base.objects import ApiObject
from reporter.stages.store.labelled_deployments import LabelledDeployments
from reporter.stages.store.pod_failures import PodFailures


class History:
    """
    The failures of pods, and the deleted Deployments that only a label tells.
    """

    def __init__(self) -> None:
        self.pod_failures = PodFailures()
        self.labelled_deployments = LabelledDeployments()

    def on_upsert(self, new: ApiObject) -> None:
        self.pod_failures.on_upsert(new)

    def on_delete(self, old: ApiObject | None) -> None:
        """
        Remember a deleted object; None for one that never could be decoded.
        """
        if old is not None:
            self.pod_failures.on_delete(old)
            self.labelled_deployments.on_delete(old)
