"""
What is remembered of objects that do not exist any more, beside their names.
"""

from collections.abc import Callable

from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.core.pods import Pod
from reporter.stages.store.history.labelled_deployments import LabelledDeployments
from reporter.stages.store.history.pod_failures import PodFailures
from reporter.stages.store.history.provisioning_errors import ProvisioningErrors


class History:
    """
    The failures of pods, the last errors of nodes, and the deleted Deployments found by label.
    """

    def __init__(self) -> None:
        self.pod_failures = PodFailures()
        self.provisioning_errors = ProvisioningErrors()
        self.labelled_deployments = LabelledDeployments()

    def on_upsert(self, old: ApiObject | None, new: ApiObject) -> None:
        # Called for each object of a list, most of which are pods.
        if isinstance(new, Pod):
            self.pod_failures.on_upsert(new)
        else:
            self.provisioning_errors.on_upsert(old, new)

    def on_delete(
        self, old: ApiObject, is_workspace_absent: Callable[[NamespacedName], bool]
    ) -> None:
        self.pod_failures.on_delete(old)
        self.provisioning_errors.on_delete(old, is_workspace_absent)
        self.labelled_deployments.on_delete(old)
