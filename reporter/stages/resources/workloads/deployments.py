"""
What is wrong with a Deployment, from its spec, its status and its pods.

Rules: apps/v1 Deployment API reference and kubernetes pkg/controller/deployment. Counts alone are
not enough: one that is scaled to zero is Available, one that rolls out with surge serves all along.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.model.kinds.core.pods import Pod
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.stages.resources.workloads.pods import (
    PodProblem,
    filter_active_pods,
    find_pod_problems,
)


DEPLOYMENT_CODES = frozenset(
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
class Inconclusive:
    """
    The status speaks of an older spec; nothing can be said until the controller has caught up.
    """

    why: str


def deployment_ref(namespace: str, name: str) -> ObjectRef:
    return ObjectRef(DEPLOYMENTS.group_resource, namespace, name)


def missing_deployment_trouble(
    namespace: str, name: str, *, seen: bool, hint: str = ""
) -> Trouble:
    """
    A Deployment that is not there. Only one that was *seen* leaves its dependants without input.
    """
    return Trouble(
        cause=Cause(deployment_ref(namespace, name), _absence_code(seen=seen, hint=hint)),
        kind=TroubleKind.LOST if seen else TroubleKind.DECLARED,
        is_out=seen,
        message_fields={
            "object": f"Deployment {namespace}/{name}",
            "state": ("was deleted" if seen else "does not exist") + hint,
            "pods": "",
        },
    )


def _absence_code(*, seen: bool, hint: str) -> str:
    if hint:
        return "Misnamed"
    return "Deleted" if seen else "NotFound"


def evaluate_deployment(
    deployment: Deployment, pods: Sequence[Pod]
) -> Trouble | Inconclusive | None:
    """
    None for one that does its work, and for one that is being deleted.
    """
    meta, status = deployment.metadata, deployment.status
    if meta.deletion_timestamp is not None:
        return None
    if deployment.desired_replicas == 0:
        zero = _new_trouble(
            deployment, "ScaledToZero", TroubleKind.DECLARED, "is scaled to zero replicas"
        )
        return replace(zero, is_out=True)
    if status.observed_generation < meta.generation:
        return Inconclusive(
            f"status of Deployment {meta.namespace}/{meta.name} is older than its spec"
        )
    if status.ready_replicas >= deployment.desired_replicas:
        return _rollout_trouble(deployment, filter_active_pods(pods))
    return _shortage_trouble(deployment, filter_active_pods(pods))


def _rollout_trouble(deployment: Deployment, pods: Sequence[Pod]) -> Trouble | None:
    """
    Enough replicas serve, but a change does not get through.
    """
    failure, status = _replica_failure(deployment), deployment.status
    some = f" ({status.updated_replicas}/{deployment.desired_replicas} updated)"
    updated = some if status.updated_replicas < deployment.desired_replicas else ""
    if failure is not None:
        state = f"cannot create pods for its new version{updated}, the old one still serves"
        return replace(
            _new_trouble(deployment, "FailedCreate", TroubleKind.FAILED, state),
            foreign_text=failure.message or "",
            since=failure.last_transition_time,
        )
    progressing = deployment.status.condition("Progressing")
    if progressing is None or not _is_deadline_exceeded(deployment):
        return None
    state = f"has a rollout that made no progress{updated}, the old version still serves"
    stuck = _new_trouble(deployment, "RolloutStuck", TroubleKind.FAILED, state)
    ailing = find_pod_problems(pods, wanted=len(pods))
    return replace(
        stuck,
        since=progressing.last_transition_time,
        message_fields={**stuck.message_fields, "pods": _describe_pods(ailing)},
        foreign_text=ailing[0].foreign_text if ailing else "",
    )


def _shortage_trouble(deployment: Deployment, pods: Sequence[Pod]) -> Trouble:
    """
    Fewer replicas are ready than wished for.
    """
    ailing = find_pod_problems(pods, wanted=deployment.desired_replicas)
    worst = ailing[0] if ailing else None
    failure = _replica_failure(deployment)
    refused = (failure.message or "creation of pods was refused") if failure is not None else ""
    out = max(deployment.status.available_replicas, deployment.status.ready_replicas) == 0
    detail = "FailedCreate" if refused else (worst.code if worst is not None else "")
    code = ("Unavailable" if out else "Degraded") + (f".{detail}" if detail else "")
    kind = TroubleKind.FAILED if refused else _trouble_kind(deployment, worst, alive=len(pods))
    found = _new_trouble(deployment, code, kind, _describe_state(deployment))
    return replace(
        found,
        is_out=out,
        is_crash=worst is not None and worst.is_crash,
        since=_trouble_since(deployment, worst, out=out),
        message_fields={**found.message_fields, "pods": _describe_pods(ailing)},
        foreign_text=refused or (worst.foreign_text if worst is not None else ""),
    )


def _replica_failure(deployment: Deployment) -> Condition | None:
    """
    That pods cannot be created: a quota, Pod Security or a webhook. Not that one cannot be deleted.
    """
    failure = deployment.status.condition("ReplicaFailure")
    refused = failure is not None and failure.status == "True" and failure.reason != "FailedDelete"
    return failure if refused else None


def _is_deadline_exceeded(deployment: Deployment) -> bool:
    """
    A paused Deployment keeps what was said of its progress before.
    """
    progressing = deployment.status.condition("Progressing")
    exceeded = progressing is not None and progressing.reason == "ProgressDeadlineExceeded"
    return exceeded and not deployment.spec.paused


def _describe_pods(ailing: Sequence[PodProblem]) -> str:
    if not ailing:
        return ""
    more = len(ailing) - 1
    others = f", {more} more pod{'s' if more > 1 else ''} not ready" if more else ""
    return f"; pod {ailing[0].pod} {ailing[0].text}{others}"


def _trouble_kind(deployment: Deployment, worst: PodProblem | None, *, alive: int) -> TroubleKind:
    if worst is not None and worst.kind is TroubleKind.FAILED:
        return TroubleKind.FAILED
    if _is_deadline_exceeded(deployment):
        return TroubleKind.FAILED
    if _is_rolling_out(deployment):
        return TroubleKind.STARTING
    if worst is not None:
        return worst.kind
    return (
        TroubleKind.STARTING
        if deployment.status.replicas < deployment.desired_replicas or alive
        else TroubleKind.LOST
    )


def _is_rolling_out(deployment: Deployment) -> bool:
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


def _describe_state(deployment: Deployment) -> str:
    status, desired = deployment.status, deployment.desired_replicas
    state = f"has {status.ready_replicas}/{desired} replicas ready"
    if _is_rolling_out(deployment) or status.updated_replicas < min(desired, status.replicas):
        state += f" ({status.updated_replicas}/{desired} updated)"
    return state + (" and is paused" if deployment.spec.paused else "")


def _trouble_since(
    deployment: Deployment, worst: PodProblem | None, *, out: bool
) -> datetime | None:
    available = deployment.status.condition("Available")
    if out and available is not None and available.status == "False":
        return available.last_transition_time
    return worst.since if worst is not None else None


def _new_trouble(deployment: Deployment, code: str, kind: TroubleKind, state: str) -> Trouble:
    meta = deployment.metadata
    return Trouble(
        cause=Cause(deployment_ref(meta.namespace, meta.name), code),
        kind=kind,
        object_created_at=meta.creation_timestamp,
        message_fields={
            "object": f"Deployment {meta.namespace}/{meta.name}",
            "state": state,
            "pods": "",
        },
    )
