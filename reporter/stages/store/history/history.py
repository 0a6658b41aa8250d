"""
The memory of objects beside their newest version, also once they are deleted.
"""

from collections.abc import Callable

from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.deployments import DEPLOYMENTS
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.kinds.kaito.workspaces import WORKSPACES
from reporter.stages.store.history.labelled_deployments import LabelledDeployments
from reporter.stages.store.history.pod_failures import PodFailures
from reporter.stages.store.history.pod_restarts import PodRestarts
from reporter.stages.store.history.provisioning_errors import ProvisioningErrors


class ObjectHistory:
    """
    Failures and restarts of pods, last errors of nodes, and deleted Deployments found by label.
    """

    def __init__(self) -> None:
        self.pod_failures = PodFailures()
        self.pod_restarts = PodRestarts()
        self.provisioning_errors = ProvisioningErrors()
        self.labelled_deployments = LabelledDeployments()

    def forget_all(self, kind: ResourceKind) -> None:
        """
        Forget what a kind has told that is not watched any more: what follows would not be seen.
        """
        if kind is PODS:
            self.pod_failures, self.pod_restarts = PodFailures(), PodRestarts()
        elif kind is WORKSPACES:
            self.provisioning_errors = ProvisioningErrors()
        elif kind is DEPLOYMENTS:
            self.labelled_deployments = LabelledDeployments()

    def on_upsert(self, old: ApiObject | None, new: ApiObject) -> None:
        # Called for each object of a list, most of which are pods.
        if isinstance(new, Pod):
            self.pod_failures.on_upsert(new)
            self.pod_restarts.on_upsert(old, new)
        else:
            self.provisioning_errors.on_upsert(old, new)

    def on_delete(
        self, old: ApiObject, is_workspace_absent: Callable[[NamespacedName], bool]
    ) -> None:
        self.pod_failures.on_delete(old)
        self.pod_restarts.on_delete(old)
        self.provisioning_errors.on_delete(old, is_workspace_absent)
        self.labelled_deployments.on_delete(old)
