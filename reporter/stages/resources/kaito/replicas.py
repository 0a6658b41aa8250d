"""
One replica of an InferenceSet: a Workspace with its pods, and the changes it may be going through.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from reporter.model.enums import TroubleKind
from reporter.model.kinds.core.pods import Pod
from reporter.model.kinds.kaito.workspaces import Workspace
from reporter.model.verdicts import Cause, Trouble
from reporter.stages.resources.kaito.inference_sets import (
    is_serving,
    without_leftover_pods,
    workspace_ref,
)


UPGRADE_LABEL = "kaito.sh/upgrade-to-version"
UPGRADE_START_ANNOTATION = "kaito.sh/upgrade-start-time"
"""
The marks of an upgrade in place. KAITO leaves both on the Workspace when the upgrade is over.
"""

REVISION_LABEL = "controller-revision-hash"


@dataclass(frozen=True, slots=True)
class ModelReplica:
    """
    A Workspace with its pods.

    *is_spare*: enough other replicas serve, so this one is being replaced or removed.
    """

    workspace: Workspace
    pods: Sequence[Pod]
    is_spare: bool = False

    @property
    def counted_pods(self) -> tuple[Pod, ...]:
        return without_leftover_pods(self.pods)

    @property
    def is_serving(self) -> bool:
        return is_serving(self.workspace, self.counted_pods)


def upgrade_started_at(workspace: Workspace) -> datetime | None:
    """
    Return when the last upgrade in place began; it replaces the pods created before.
    """
    try:
        started = datetime.fromisoformat(
            workspace.metadata.annotation(UPGRADE_START_ANNOTATION) or ""
        )
    except ValueError:
        return None
    if not workspace.metadata.label(UPGRADE_LABEL):
        return None
    return started if started.tzinfo is not None else started.replace(tzinfo=UTC)


def is_rolling_out(pods: Sequence[Pod]) -> bool:
    """
    Return whether the StatefulSet's pods are of more than one revision.
    """
    revisions = {pod.metadata.label(REVISION_LABEL) for pod in pods} - {""}
    return len(revisions) > 1


def replica_trouble(replica: ModelReplica, code: str, kind: TroubleKind) -> Trouble:
    """
    Build the trouble of a replica, with a message that the caller completes.
    """
    workspace = replica.workspace
    return Trouble(
        cause=Cause(workspace_ref(workspace), code),
        kind=kind,
        is_out=not replica.is_spare,
        object_created_at=workspace.metadata.creation_timestamp,
        message_fields={
            "object": f"Workspace {workspace.metadata.name}",
            "state": "",
            "pods": "",
        },
    )
