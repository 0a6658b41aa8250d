"""
What is remembered of objects beside their newest version, also once they are deleted.
"""

from reporter.model.kinds.base.objects import ApiObject
from reporter.stages.store.history.labelled_deployments import LabelledDeployments
from reporter.stages.store.history.pod_failures import PodFailures
from reporter.stages.store.history.pod_restarts import PodRestarts


class History:
    """
    The failures and restarts of pods, and the deleted Deployments that only a label tells.
    """

    def __init__(self) -> None:
        self.pod_failures = PodFailures()
        self.pod_restarts = PodRestarts()
        self.labelled_deployments = LabelledDeployments()

    def on_upsert(self, old: ApiObject | None, new: ApiObject) -> None:
        self.pod_failures.on_upsert(new)
        self.pod_restarts.on_upsert(old, new)

    def on_delete(self, old: ApiObject | None) -> None:
        """
        Remember a deleted object; None for one that never could be decoded.
        """
        if old is not None:
            self.pod_failures.on_delete(old)
            self.pod_restarts.on_delete(old)
            self.labelled_deployments.on_delete(old)
