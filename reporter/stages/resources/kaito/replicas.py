"""
One replica of an InferenceSet: a Workspace with its pods, and the changes it may be going through.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from sys import intern

from msgspec import Struct, field

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import find_condition
from reporter.model.kinds.core.pods import Pod
from reporter.model.kinds.kaito.workspaces import Workspace
from reporter.model.text.times import parse_time
from reporter.model.verdicts import Cause, Trouble
from reporter.stages.resources.conditions import is_condition_true
from reporter.stages.resources.kaito.inference_sets import (
    is_serving,
    without_leftover_pods,
    workspace_ref,
)
from reporter.stages.snapshot.failed_pods import FailedPods


UPGRADE_LABEL = "kaito.sh/upgrade-to-version"
UPGRADE_START_ANNOTATION = "kaito.sh/upgrade-start-time"
"""
The marks of an upgrade in place. KAITO leaves both on the Workspace when the upgrade is over.
"""

REVISION_LABEL = "controller-revision-hash"


DEGRADED = "Degraded"


class ServingReplicas(Struct, frozen=True):
    """
    The number of an InferenceSet's wanted replicas that serve; *unit* is what a reader counts.
    """

    serving: int = 0
    wanted: int = 1
    unit: str = "model pods"

    @classmethod
    def of(cls, workspaces: Iterable[Workspace], serving: int, wanted: int) -> "ServingReplicas":
        """Return the counts of a set; a replica of several nodes is more than one pod."""
        has_pods = any(each.status.target_node_count > 1 for each in workspaces)
        return cls(serving, wanted, "replicas" if has_pods else "model pods")

    @property
    def is_out(self) -> bool:
        return not self.serving

    @property
    def is_enough(self) -> bool:
        return self.serving >= self.wanted

    def cause_code(self, code: str) -> str:
        """
        Return the code of a cause; an outage and a loss of some replicas are different causes.
        """
        # Kept for each finding, as the texts below are: an outage makes thousands of the same.
        return code if self.is_out else intern(f"{DEGRADED}.{code}")

    def describe(self) -> str:
        """Return the beginning of a message; empty if the only replica is out."""
        if self.is_out and self.wanted <= 1:
            return ""
        extent = "unavailable, " if self.is_out else "degraded, "
        verb = "is" if self.serving == 1 else "are"
        counts = f"{self.serving} of {self.wanted} {self.unit} {verb} ready: "
        return intern(counts if self.is_enough else extent + counts)


class ModelReplica(Struct, frozen=True, gc=False):
    """
    A Workspace with its pods. *of_set*: how many replicas of its InferenceSet serve.

    *failures*: by name, of pods that failed since they were Ready. *has_node_error*: its nodes were
    refused, and the outcome of the next attempt is open.

    A pass builds two for each Workspace, so it is a struct: cheaper than a dataclass.
    """

    workspace: Workspace
    pods: Sequence[Pod]
    of_set: ServingReplicas = ServingReplicas()
    failures: Mapping[str, FailedPods] = field(default_factory=dict)
    has_node_error: bool = False

    @property
    def is_spare(self) -> bool:
        """Report that enough other replicas serve, so this one is being replaced or removed."""
        return self.of_set.is_enough

    @property
    def counted_pods(self) -> tuple[Pod, ...]:
        return without_leftover_pods(self.pods)

    @property
    def is_serving(self) -> bool:
        return is_serving(self.workspace, self.counted_pods)


def upgrade_started_at(workspace: Workspace) -> datetime | None:
    """Return when the last upgrade in place began; it replaces the pods created before."""
    if not workspace.metadata.label(UPGRADE_LABEL):
        return None
    return parse_time(workspace.metadata.annotation(UPGRADE_START_ANNOTATION))


def has_served(workspace: Workspace) -> bool:
    """
    Return whether a replica has been Ready at any time; KAITO's state NotReady means that it was.
    """
    inference = find_condition(workspace.status.conditions, "InferenceReady")
    return workspace.status.state in {"Ready", "NotReady"} or is_condition_true(inference)


def is_rolling_out(pods: Sequence[Pod]) -> bool:
    """Return whether the StatefulSet's pods are of more than one revision."""
    revisions = {pod.metadata.label(REVISION_LABEL) for pod in pods} - {""}
    return len(revisions) > 1


def replica_trouble(replica: ModelReplica, code: str, kind: TroubleKind) -> Trouble:
    """Build the trouble of a replica, with a message that the caller completes."""
    workspace = replica.workspace
    return Trouble(
        cause=Cause(workspace_ref(workspace), replica.of_set.cause_code(code)),
        kind=kind,
        is_out=replica.of_set.is_out,
        object_created_at=workspace.metadata.creation_timestamp,
        message_fields={
            "object": f"Workspace {workspace.metadata.name}",
            "state": "",
            "pods": "",
            "extent": replica.of_set.describe(),
        },
    )
