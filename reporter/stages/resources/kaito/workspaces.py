"""
What keeps the model pods of one Workspace from serving.

The pods' own states decide. KAITO's InferenceReady is asked only where pods tell nothing: it is
pending while a NodeClaim changes under Ready pods, calls a pod unschedulable whose node is on its way,
keeps an OOMKilled container's last end and an evicted pod's name, and in older releases calls crashing
pods ready.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.core.pods import Pod
from reporter.model.kinds.kaito.workspaces import Workspace
from reporter.model.verdicts import Cause, Trouble
from reporter.stages.resources.check_result import CheckResult
from reporter.stages.resources.conditions import (
    check_observed_generation,
    reason_text,
    transition_time,
)
from reporter.stages.resources.kaito.inference_sets import (
    is_serving,
    without_leftover_pods,
    workspace_ref,
)
from reporter.stages.resources.kaito.nodes import (
    NODE_CLAIM_READY,
    RESOURCE_READY,
    TRANSIENT_REASONS,
    is_condition_true,
    nodes_ready,
)
from reporter.stages.resources.workloads.pods import MIN_TIME, PodProblem, find_pod_problems


INFERENCE_READY = "InferenceReady"
INFERENCE_PENDING = "WorkspaceInferenceStatusPending"
POD_REASON_CODES = {
    "ContainerCrashLoopBackOff": "Crash",
    "ContainerOOMKilled": "OutOfMemory",
    "ContainerStartError": "Config",
    "ImagePullError": "ImagePull",
    "NodeDiskPressure": "Failed",
    "NodeMemoryPressure": "Failed",
    "PodEvicted": "Failed",
    "SASTokenFetchFailed": "Crash",
    "Unschedulable": "Unschedulable",
}
"""
Reasons of InferenceReady that KAITO reads off the pods, with their code; the pods tell it better.
"""

UPGRADE_KEYS = ("kaito.sh/upgrade-to-version", "kaito.sh/upgrade-start-time")
"""
Label and annotation of an upgrade in place. KAITO leaves both there when it is over.
"""

REVISION_LABEL = "controller-revision-hash"


@dataclass(frozen=True, slots=True)
class ModelReplica:
    """
    A Workspace with its pods. *spare*: enough others serve, so this one is being replaced or removed.
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


def evaluate_replica(model: ModelReplica) -> CheckResult | None:
    """
    None for one whose pods are Ready.
    """
    if model.is_serving:
        return None
    ailing = _pod_problems(model)
    if ailing and ailing[0].kind is TroubleKind.FAILED:
        return _pod_trouble(model, ailing)
    stated = _stated_trouble(model)
    if isinstance(stated, Trouble) or not ailing:
        return stated or _unless_awaiting_node(model, _missing_pods_trouble(model))
    return _unless_awaiting_node(model, _pod_trouble(model, ailing))


def _unless_awaiting_node(model: ModelReplica, found: Trouble) -> Trouble | None:
    """
    What has no node yet is for the provisioning to judge.

    The time that a model may take to start begins when its node came.
    """
    waits = found.kind is TroubleKind.STARTING and found.cause.code in {"Missing", "Unschedulable"}
    return None if waits and not nodes_ready(model.workspace) else found


# ---------------------------------------------------------------- what the pods tell


def _pod_problems(model: ModelReplica) -> list[PodProblem]:
    pods = model.counted_pods
    born = {pod.metadata.name: pod.metadata.creation_timestamp or MIN_TIME for pod in pods}
    upgrade, rolling = _upgrade_started_at(model.workspace), _is_rolling_out(pods)
    found = []
    for each in find_pod_problems(pods, wanted=len(pods)):
        change = rolling or model.is_spare or (upgrade is not None and born[each.pod] < upgrade)
        if each.kind is TroubleKind.LOST and change:
            each = replace(each, kind=TroubleKind.STARTING)
        if each.code == "Unschedulable" and nodes_ready(model.workspace):
            each = replace(each, kind=TroubleKind.LOST)
        found.append(each)
    return sorted(found, key=lambda each: each.sort_key)


def _upgrade_started_at(workspace: Workspace) -> datetime | None:
    """
    When it was last told to upgrade in place; a pod from before is replaced by it.
    """
    label, annotation = UPGRADE_KEYS
    try:
        started = datetime.fromisoformat(workspace.metadata.annotation(annotation) or "")
    except ValueError:
        return None
    if not workspace.metadata.label(label):
        return None
    return started if started.tzinfo is not None else started.replace(tzinfo=UTC)


def _is_rolling_out(pods: Sequence[Pod]) -> bool:
    """
    Whether the StatefulSet's pods are of two revisions.
    """
    revisions = {pod.metadata.label(REVISION_LABEL) for pod in pods} - {""}
    return len(revisions) > 1


def _pod_trouble(model: ModelReplica, ailing: Sequence[PodProblem]) -> Trouble:
    worst, others = ailing[0], len(ailing) - 1
    state = "is not ready" if worst.text == "not Ready" else f"is not ready: {worst.text}"
    more = f", {others} more pod{'s' if others > 1 else ''} not ready" if others else ""
    found = _new_trouble(model, _cause_code(worst), worst.kind)
    return replace(
        found,
        is_crash=worst.is_crash,
        since=worst.since
        or (_pod_created_at(model, worst) if worst.kind is TroubleKind.STARTING else None),
        message_fields={"object": f"model pod {worst.pod}", "state": state, "pods": more},
        foreign_text=worst.foreign_text,
    )


def _cause_code(worst: PodProblem) -> str:
    if "OOMKilled" in worst.text:
        return "OutOfMemory"
    return "Lost" if worst.kind is TroubleKind.LOST and worst.code == "NotReady" else worst.code


def _pod_created_at(model: ModelReplica, worst: PodProblem) -> datetime | None:
    found = (p.metadata for p in model.counted_pods if p.metadata.name == worst.pod)
    return next((meta.creation_timestamp for meta in found), None)


# ---------------------------------------------------------------- what KAITO tells


def _stated_trouble(model: ModelReplica) -> CheckResult | None:
    """
    An error that no pod can tell, or that of pods which are not seen.
    """
    meta, conditions = model.workspace.metadata, model.workspace.status.conditions
    inference, resources = (
        find_condition(conditions, INFERENCE_READY),
        find_condition(conditions, RESOURCE_READY),
    )
    what = f"Workspace {meta.namespace}/{meta.name}"
    if (
        inference is not None
        and not model.counted_pods
        and (late := check_observed_generation(inference, meta, what))
    ):
        return late
    if inference is not None and _is_error(model, inference):
        return check_observed_generation(inference, meta, what) or _condition_trouble(
            model, inference
        )
    claimed = is_condition_true(find_condition(conditions, NODE_CLAIM_READY))
    if claimed and resources is not None and _is_error(model, resources):
        return check_observed_generation(resources, meta, what) or _condition_trouble(
            model, resources
        )
    return None


def _is_error(model: ModelReplica, found: Condition) -> bool:
    reason = found.reason or ""
    if is_condition_true(found) or reason in TRANSIENT_REASONS or reason == INFERENCE_PENDING:
        return False
    if reason == "Unschedulable" and not nodes_ready(model.workspace):
        return False
    return reason not in POD_REASON_CODES or not model.pods


def _condition_trouble(model: ModelReplica, stated: Condition) -> Trouble:
    code = POD_REASON_CODES.get(stated.reason or "", "Workspace")
    found = _new_trouble(model, code, TroubleKind.FAILED)
    state = f"{stated.type}={stated.status} ({reason_text(stated)})"
    return replace(
        found,
        is_crash=code in {"Crash", "OutOfMemory"},
        since=transition_time(stated, model.workspace.metadata),
        message_fields={**found.message_fields, "state": state},
        foreign_text=stated.message or "",
    )


# ---------------------------------------------------------------- no pods


def _missing_pods_trouble(model: ModelReplica) -> Trouble:
    """
    Fewer pods than nodes, or none.
    """
    workspace, seen = model.workspace, len(model.counted_pods)
    wanted = max(workspace.status.target_node_count, 1)
    inference = find_condition(workspace.status.conditions, INFERENCE_READY)
    served = workspace.status.state in {"Ready", "NotReady"} or is_condition_true(inference)
    going = len(model.pods) > seen
    changing = going or model.is_spare or _upgrade_started_at(workspace) is not None
    found = _new_trouble(
        model, "Missing", TroubleKind.LOST if served and not changing else TroubleKind.STARTING
    )
    state = f"has {seen}/{wanted} model pods" if seen else "has no model pod"
    began = (
        transition_time(inference, workspace.metadata)
        if inference is not None
        else found.object_created_at
    )
    return replace(
        found,
        since=began if found.kind is TroubleKind.STARTING else None,
        message_fields={
            **found.message_fields,
            "state": f"{state}, the old one is being replaced" if going else state,
        },
    )


def _new_trouble(model: ModelReplica, code: str, kind: TroubleKind) -> Trouble:
    return Trouble(
        cause=Cause(workspace_ref(model.workspace), code),
        kind=kind,
        is_out=not model.is_spare,
        object_created_at=model.workspace.metadata.creation_timestamp,
        message_fields={
            "object": f"Workspace {model.workspace.metadata.name}",
            "state": "",
            "pods": "",
        },
    )
