"""
What is wrong with a Deployment, from its spec, its status and its pods.

Rules: apps/v1 Deployment API reference and kubernetes pkg/controller/deployment. Counts alone are
not enough: one that is scaled to zero is Available, one that rolls out with surge serves all along.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from reporter.model.kinds import DEPLOYMENTS
from reporter.model.objects import Condition, Deployment, Pod
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.model.words import Kind
from reporter.stages.pods import Ailment, ailments, current


CODES = frozenset(
    {
        "NotFound",
        "Misnamed",
        "Deleted",
        "ScaledToZero",
        "RolloutStuck",
        "FailedCreate",
        "Unavailable",
        "Degraded",
        "Crash",
        "OutOfMemory",
        "ImagePull",
        "Config",
        "Unschedulable",
        "Failed",
        "NotReady",
    }
)
"""
All codes, as a probe of Deployments must state them: its own, and after a dot those of its pods.
"""


@dataclass(frozen=True, slots=True)
class Stale:
    """
    The status speaks of an older spec; nothing can be said until the controller has caught up.
    """

    why: str


def reference(namespace: str, name: str) -> ObjectRef:
    return ObjectRef(DEPLOYMENTS.qualified, namespace, name)


def absent(namespace: str, name: str, *, seen: bool, hint: str = "") -> Trouble:
    """
    A Deployment that is not there. Only one that was *seen* leaves its dependants without input.
    """
    return Trouble(
        cause=Cause(reference(namespace, name), _absence(seen=seen, hint=hint)),
        kind=Kind.LOST if seen else Kind.DECLARED,
        out=seen,
        fields={
            "object": f"Deployment {namespace}/{name}",
            "state": ("was deleted" if seen else "does not exist") + hint,
            "pods": "",
        },
    )


def _absence(*, seen: bool, hint: str) -> str:
    if hint:
        return "Misnamed"
    return "Deleted" if seen else "NotFound"


def trouble(deployment: Deployment, pods: Sequence[Pod]) -> Trouble | Stale | None:
    """
    None for one that does its work, and for one that is being deleted.
    """
    meta, status = deployment.metadata, deployment.status
    if meta.deletion_timestamp is not None:
        return None
    if deployment.desired == 0:
        zero = _trouble(deployment, "ScaledToZero", Kind.DECLARED, "is scaled to zero replicas")
        return replace(zero, out=True)
    if status.observed_generation < meta.generation:
        return Stale(f"status of Deployment {meta.namespace}/{meta.name} is older than its spec")
    if status.ready_replicas >= deployment.desired:
        return _stuck(deployment, current(pods))
    return _short(deployment, current(pods))


def _stuck(deployment: Deployment, pods: Sequence[Pod]) -> Trouble | None:
    """
    Enough replicas serve, but a change does not get through.
    """
    failure, status = _failure(deployment), deployment.status
    some = f" ({status.updated_replicas}/{deployment.desired} updated)"
    updated = some if status.updated_replicas < deployment.desired else ""
    if failure is not None:
        state = f"cannot create pods for its new version{updated}, the old one still serves"
        return replace(
            _trouble(deployment, "FailedCreate", Kind.FAILED, state),
            foreign=failure.message or "",
            since=failure.last_transition_time,
        )
    progressing = deployment.status.condition("Progressing")
    if progressing is None or not _overdue(deployment):
        return None
    state = f"has a rollout that made no progress{updated}, the old version still serves"
    stuck = _trouble(deployment, "RolloutStuck", Kind.FAILED, state)
    ailing = ailments(pods, wanted=len(pods))
    return replace(
        stuck,
        since=progressing.last_transition_time,
        fields={**stuck.fields, "pods": _pods(ailing)},
        foreign=ailing[0].foreign if ailing else "",
    )


def _short(deployment: Deployment, pods: Sequence[Pod]) -> Trouble:
    """
    Fewer replicas are ready than wished for.
    """
    ailing = ailments(pods, wanted=deployment.desired)
    worst = ailing[0] if ailing else None
    failure = _failure(deployment)
    refused = (failure.message or "creation of pods was refused") if failure is not None else ""
    out = max(deployment.status.available_replicas, deployment.status.ready_replicas) == 0
    detail = "FailedCreate" if refused else (worst.code if worst is not None else "")
    code = ("Unavailable" if out else "Degraded") + (f".{detail}" if detail else "")
    kind = Kind.FAILED if refused else _kind(deployment, worst, alive=len(pods))
    found = _trouble(deployment, code, kind, _state(deployment))
    return replace(
        found,
        out=out,
        crash=worst is not None and worst.crash,
        since=_since(deployment, worst, out=out),
        fields={**found.fields, "pods": _pods(ailing)},
        foreign=refused or (worst.foreign if worst is not None else ""),
    )


def _failure(deployment: Deployment) -> Condition | None:
    """
    That pods cannot be created: a quota, Pod Security or a webhook. Not that one cannot be deleted.
    """
    failure = deployment.status.condition("ReplicaFailure")
    refused = failure is not None and failure.status == "True" and failure.reason != "FailedDelete"
    return failure if refused else None


def _overdue(deployment: Deployment) -> bool:
    """
    A paused Deployment keeps what was said of its progress before.
    """
    progressing = deployment.status.condition("Progressing")
    exceeded = progressing is not None and progressing.reason == "ProgressDeadlineExceeded"
    return exceeded and not deployment.spec.paused


def _pods(ailing: Sequence[Ailment]) -> str:
    if not ailing:
        return ""
    more = len(ailing) - 1
    others = f", {more} more pod{'s' if more > 1 else ''} not ready" if more else ""
    return f"; pod {ailing[0].pod} {ailing[0].text}{others}"


def _kind(deployment: Deployment, worst: Ailment | None, *, alive: int) -> Kind:
    if worst is not None and worst.kind is Kind.FAILED:
        return Kind.FAILED
    if _overdue(deployment):
        return Kind.FAILED
    if _rolling(deployment):
        return Kind.STARTING
    if worst is not None:
        return worst.kind
    return Kind.STARTING if deployment.status.replicas < deployment.desired or alive else Kind.LOST


def _rolling(deployment: Deployment) -> bool:
    """
    A paused Deployment makes no progress and says nothing of it.
    """
    progressing = deployment.status.condition("Progressing")
    return (
        not deployment.spec.paused
        and progressing is not None
        and progressing.status == "True"
        and progressing.reason != "NewReplicaSetAvailable"
    )


def _state(deployment: Deployment) -> str:
    status, desired = deployment.status, deployment.desired
    state = f"has {status.ready_replicas}/{desired} replicas ready"
    if _rolling(deployment) or status.updated_replicas < min(desired, status.replicas):
        state += f" ({status.updated_replicas}/{desired} updated)"
    return state + (" and is paused" if deployment.spec.paused else "")


def _since(deployment: Deployment, worst: Ailment | None, *, out: bool) -> datetime | None:
    available = deployment.status.condition("Available")
    if out and available is not None and available.status == "False":
        return available.last_transition_time
    return worst.since if worst is not None else None


def _trouble(deployment: Deployment, code: str, kind: Kind, state: str) -> Trouble:
    meta = deployment.metadata
    return Trouble(
        cause=Cause(reference(meta.namespace, meta.name), code),
        kind=kind,
        born=meta.creation_timestamp,
        fields={"object": f"Deployment {meta.namespace}/{meta.name}", "state": state, "pods": ""},
    )
