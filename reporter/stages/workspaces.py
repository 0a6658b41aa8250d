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

from reporter.model.kaito_objects import Workspace
from reporter.model.objects import Condition, Pod, condition
from reporter.model.verdicts import Cause, Trouble
from reporter.model.words import Kind
from reporter.stages.conditions import named, since, stale
from reporter.stages.models import counted, reference, serves
from reporter.stages.nodes import CLAIMS, RESOURCES, TRANSIENT, came, holds
from reporter.stages.pods import NEVER, Ailment, ailments
from reporter.stages.ruling import Found


INFERENCE = "InferenceReady"
PENDING = "WorkspaceInferenceStatusPending"
OF_PODS = {
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

UPGRADE = ("kaito.sh/upgrade-to-version", "kaito.sh/upgrade-start-time")
"""
Label and annotation of an upgrade in place. KAITO leaves both there when it is over.
"""

REVISION = "controller-revision-hash"


@dataclass(frozen=True, slots=True)
class Model:
    """
    A Workspace with its pods. *spare*: enough others serve, so this one is being replaced or removed.
    """

    workspace: Workspace
    pods: Sequence[Pod]
    spare: bool = False

    @property
    def counted(self) -> tuple[Pod, ...]:
        return counted(self.pods)

    @property
    def serves(self) -> bool:
        return serves(self.workspace, self.counted)


def trouble(model: Model) -> Found | None:
    """
    None for one whose pods are Ready.
    """
    if model.serves:
        return None
    ailing = _ailments(model)
    if ailing and ailing[0].kind is Kind.FAILED:
        return _of_pods(model, ailing)
    stated = _stated(model)
    if isinstance(stated, Trouble) or not ailing:
        return stated or _unless_awaited(model, _missing(model))
    return _unless_awaited(model, _of_pods(model, ailing))


def _unless_awaited(model: Model, found: Trouble) -> Trouble | None:
    """
    What has no node yet is for the provisioning to judge.

    The time that a model may take to start begins when its node came.
    """
    waits = found.kind is Kind.STARTING and found.cause.code in {"Missing", "Unschedulable"}
    return None if waits and not came(model.workspace) else found


# ---------------------------------------------------------------- what the pods tell


def _ailments(model: Model) -> list[Ailment]:
    pods = model.counted
    born = {pod.metadata.name: pod.metadata.creation_timestamp or NEVER for pod in pods}
    upgrade, rolling = _upgrade(model.workspace), _rolls(pods)
    found = []
    for each in ailments(pods, wanted=len(pods)):
        change = rolling or model.spare or (upgrade is not None and born[each.pod] < upgrade)
        if each.kind is Kind.LOST and change:
            each = replace(each, kind=Kind.STARTING)
        if each.code == "Unschedulable" and came(model.workspace):
            each = replace(each, kind=Kind.LOST)
        found.append(each)
    return sorted(found, key=lambda each: each.order)


def _upgrade(workspace: Workspace) -> datetime | None:
    """
    When it was last told to upgrade in place; a pod from before is replaced by it.
    """
    label, annotation = UPGRADE
    try:
        started = datetime.fromisoformat(workspace.metadata.annotation(annotation) or "")
    except ValueError:
        return None
    if not workspace.metadata.label(label):
        return None
    return started if started.tzinfo is not None else started.replace(tzinfo=UTC)


def _rolls(pods: Sequence[Pod]) -> bool:
    """
    Whether the StatefulSet's pods are of two revisions.
    """
    revisions = {pod.metadata.label(REVISION) for pod in pods} - {""}
    return len(revisions) > 1


def _of_pods(model: Model, ailing: Sequence[Ailment]) -> Trouble:
    worst, others = ailing[0], len(ailing) - 1
    state = "is not ready" if worst.text == "not Ready" else f"is not ready: {worst.text}"
    more = f", {others} more pod{'s' if others > 1 else ''} not ready" if others else ""
    found = _trouble(model, _code(worst), worst.kind)
    return replace(
        found,
        crash=worst.crash,
        since=worst.since or (_born(model, worst) if worst.kind is Kind.STARTING else None),
        fields={"object": f"model pod {worst.pod}", "state": state, "pods": more},
        foreign=worst.foreign,
    )


def _code(worst: Ailment) -> str:
    if "OOMKilled" in worst.text:
        return "OutOfMemory"
    return "Lost" if worst.kind is Kind.LOST and worst.code == "NotReady" else worst.code


def _born(model: Model, worst: Ailment) -> datetime | None:
    found = (p.metadata for p in model.counted if p.metadata.name == worst.pod)
    return next((meta.creation_timestamp for meta in found), None)


# ---------------------------------------------------------------- what KAITO tells


def _stated(model: Model) -> Found | None:
    """
    An error that no pod can tell, or that of pods which are not seen.
    """
    meta, conditions = model.workspace.metadata, model.workspace.status.conditions
    inference, resources = condition(conditions, INFERENCE), condition(conditions, RESOURCES)
    what = f"Workspace {meta.namespace}/{meta.name}"
    if inference is not None and not model.counted and (late := stale(inference, meta, what)):
        return late
    if inference is not None and _is_error(model, inference):
        return stale(inference, meta, what) or _of_condition(model, inference)
    claimed = holds(condition(conditions, CLAIMS))
    if claimed and resources is not None and _is_error(model, resources):
        return stale(resources, meta, what) or _of_condition(model, resources)
    return None


def _is_error(model: Model, found: Condition) -> bool:
    reason = found.reason or ""
    if holds(found) or reason in TRANSIENT or reason == PENDING:
        return False
    if reason == "Unschedulable" and not came(model.workspace):
        return False
    return reason not in OF_PODS or not model.pods


def _of_condition(model: Model, stated: Condition) -> Trouble:
    code = OF_PODS.get(stated.reason or "", "Workspace")
    found = _trouble(model, code, Kind.FAILED)
    state = f"{stated.type}={stated.status} ({named(stated)})"
    return replace(
        found,
        crash=code in {"Crash", "OutOfMemory"},
        since=since(stated, model.workspace.metadata),
        fields={**found.fields, "state": state},
        foreign=stated.message or "",
    )


# ---------------------------------------------------------------- no pods


def _missing(model: Model) -> Trouble:
    """
    Fewer pods than nodes, or none.
    """
    workspace, seen = model.workspace, len(model.counted)
    wanted = max(workspace.status.target_node_count, 1)
    inference = condition(workspace.status.conditions, INFERENCE)
    served = workspace.status.state in {"Ready", "NotReady"} or holds(inference)
    going = len(model.pods) > seen
    changing = going or model.spare or _upgrade(workspace) is not None
    found = _trouble(model, "Missing", Kind.LOST if served and not changing else Kind.STARTING)
    state = f"has {seen}/{wanted} model pods" if seen else "has no model pod"
    began = since(inference, workspace.metadata) if inference is not None else found.born
    return replace(
        found,
        since=began if found.kind is Kind.STARTING else None,
        fields={
            **found.fields,
            "state": f"{state}, the old one is being replaced" if going else state,
        },
    )


def _trouble(model: Model, code: str, kind: Kind) -> Trouble:
    return Trouble(
        cause=Cause(reference(model.workspace), code),
        kind=kind,
        out=not model.spare,
        born=model.workspace.metadata.creation_timestamp,
        fields={
            "object": f"Workspace {model.workspace.metadata.name}",
            "state": "",
            "pods": "",
        },
    )
