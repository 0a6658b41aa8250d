"""
Trouble of a Deployment, from its spec, its status and its pods.

Counts of replicas are not enough: a Deployment that is scaled to zero is Available, and one that rolls
out with surge serves all along. Sources: the apps/v1 API reference (DeploymentStatus) and the
Deployment controller (kubernetes, pkg/controller/deployment).
"""

from collections.abc import Sequence

from msgspec.structs import replace

from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.core import PODS, Pod, was_ready
from reporter.kinds.objects import Condition, workload_key
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Cause, Trouble
from reporter.resources import restarts
from reporter.resources.check_result import CheckResult, Inconclusive, check_decoded
from reporter.resources.conditions import Absence, is_condition_true, is_deleting
from reporter.resources.lost_nodes import NODE_NOT_READY, with_lost_nodes
from reporter.resources.pods import (
    END_CODES,
    FAILURE_CODES,
    PodProblem,
    filter_active_pods,
    find_pod_problems,
)
from reporter.snapshot.snapshot import Snapshot


# --------------------------------------------------------------------
# The state of a Deployment's rollout, from its conditions.
#
# Source: the Deployment controller (kubernetes, pkg/controller/deployment).


def replica_failure(deployment: Deployment) -> Condition | None:
    """
    Return the condition that no pods can be created: by a quota, Pod Security or a webhook.

    The same condition reports that a pod cannot be deleted (reason FailedDelete), which leaves too
    many pods and not too few.
    """
    failure = deployment.status.condition("ReplicaFailure")
    if failure is None or not is_condition_true(failure) or failure.reason == "FailedDelete":
        return None
    return failure


def is_deadline_exceeded(deployment: Deployment) -> bool:
    """
    Return whether a rollout missed its progress deadline.

    The condition of a paused Deployment is frozen and does not count.
    """
    progressing = deployment.status.condition("Progressing")
    is_exceeded = progressing is not None and progressing.reason == "ProgressDeadlineExceeded"
    return is_exceeded and not deployment.spec.paused


def is_rolling_out(deployment: Deployment) -> bool:
    """
    Return whether the controller reports a rollout in progress; not for a paused Deployment.

    Progressing stays True after a rollout, with the reason NewReplicaSetAvailable.
    """
    progressing = deployment.status.condition("Progressing")
    return (
        not deployment.spec.paused
        and progressing is not None
        and progressing.status == "True"
        and progressing.reason != "NewReplicaSetAvailable"
    )


UNAVAILABLE, DEGRADED = "Unavailable", "Degraded"
"""The first parts of the code of a Deployment with fewer Ready replicas than desired."""

DEPLOYMENT_CODES = frozenset(
    {
        "NotFound",
        "Misnamed",
        "Deleted",
        "ScaledToZero",
        "RolloutStuck",
        "FailedCreate",
        UNAVAILABLE,
        DEGRADED,
        *END_CODES,
        "ImagePull",
        "Config",
        "Unschedulable",
        *FAILURE_CODES,
        "StartError",
        "NotStarted",
        "Disrupted",
        "NotReady",
        "ContainerNotReady",
        "AllContainersReady",
        NODE_NOT_READY,
    }
)
"""All cause codes of a Deployment; a code may have the code of its pods' problem after a dot."""


def missing_deployment_trouble(
    namespace: str, name: str, *, was_deleted: bool, hint: str = ""
) -> Trouble:
    """
    Build the trouble of a Deployment that does not exist; *hint* ends the sentence about it.

    Only a deleted Deployment is out. One that was never seen may run under another name, and must
    not suppress what depends on it.
    """
    absence, code = Absence(was_deleted), "Deleted" if was_deleted else "NotFound"
    return Trouble(
        cause=Cause(DEPLOYMENTS.ref(namespace, name), "Misnamed" if hint else code),
        kind=absence.trouble_kind,
        is_out=was_deleted,
        message_fields={
            "object": f"Deployment {namespace}/{name}",
            "state": absence.describe() + hint,
            "pods": "",
        },
    )


def check_deployment(snapshot: Snapshot, deployment: Deployment) -> CheckResult | None:
    """
    Evaluate a Deployment with its pods; inconclusive if its newest version could not be decoded.
    """
    meta = deployment.metadata
    pods = snapshot.by_index(PODS, Pod, workload_key(meta.namespace, meta.name))
    undecodable = check_decoded(snapshot, DEPLOYMENTS, meta.namespace, meta.name)
    return undecodable or with_lost_nodes(evaluate_deployment(deployment, pods), snapshot, pods)


def evaluate_deployment(deployment: Deployment, pods: Sequence[Pod]) -> CheckResult | None:
    """Return the trouble of a Deployment; None if it works or is being deleted."""
    meta, status = deployment.metadata, deployment.status
    if is_deleting(deployment):
        return None
    if deployment.desired_replicas == 0:
        # A fact of the spec, so the status need not be current.
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
    return _shortage_trouble(deployment, pods)


def _rollout_trouble(deployment: Deployment, pods: Sequence[Pod]) -> Trouble | None:
    """Return the trouble of a rollout that does not get through although enough replicas serve."""
    failure, status = replica_failure(deployment), deployment.status
    counts = f" ({status.updated_replicas}/{deployment.desired_replicas} updated)"
    updated = counts if status.updated_replicas < deployment.desired_replicas else ""
    if failure is not None:
        state = f"cannot create pods for its new version{updated}, the old one still serves"
        return replace(
            _new_trouble(deployment, "FailedCreate", TroubleKind.FAILED, state),
            foreign_text=failure.message or "",
            since=failure.last_transition_time,
        )
    progressing = status.condition("Progressing")
    if progressing is None or not is_deadline_exceeded(deployment):
        return None
    state = f"has a rollout that made no progress{updated}, the old version still serves"
    stuck = _new_trouble(deployment, "RolloutStuck", TroubleKind.FAILED, state)
    problems = find_pod_problems(pods, desired=len(pods))
    return replace(
        stuck,
        since=progressing.last_transition_time,
        message_fields={**stuck.message_fields, "pods": _describe_pods(problems)},
        foreign_text=problems[0].foreign_text if problems else "",
    )


def _shortage_trouble(deployment: Deployment, pods: Sequence[Pod]) -> Trouble:
    """Build the trouble of a Deployment with fewer Ready replicas than desired."""
    active_pods = filter_active_pods(pods)
    problems = _find_problems(pods, active_pods, desired=deployment.desired_replicas)
    worst = problems[0] if problems else None
    failure = replica_failure(deployment)
    refused = (failure.message or "creation of pods was refused") if failure is not None else ""
    is_out = max(deployment.status.available_replicas, deployment.status.ready_replicas) == 0
    detail = "FailedCreate" if refused else (worst.code if worst is not None else "")
    code = (UNAVAILABLE if is_out else DEGRADED) + (f".{detail}" if detail else "")
    kind = (
        TroubleKind.FAILED
        if refused
        else _trouble_kind(deployment, worst, has_pods=bool(active_pods))
    )
    since = worst.since if worst is not None else None
    available = deployment.status.condition("Available")
    if is_out and available is not None and available.status == "False":
        since = available.last_transition_time
    state = _describe_state(deployment, is_out=is_out)
    trouble = _new_trouble(deployment, code, kind, state)
    return replace(
        trouble,
        is_out=is_out,
        is_crash=worst is not None and worst.is_crash,
        since=since,
        message_fields={**trouble.message_fields, "pods": _describe_pods(problems)},
        foreign_text=refused or (worst.foreign_text if worst is not None else ""),
    )


def _find_problems(
    pods: Sequence[Pod], active_pods: Sequence[Pod], *, desired: int
) -> Sequence[PodProblem]:
    """
    Return the problems of a Deployment's pods, with those that failed one after the other first.
    """
    problems = find_pod_problems(active_pods, desired=desired)
    failures = restarts.count_failures(pods) or restarts.count_storage_evictions(pods)
    failed = next((p for p in pods if failures and p.metadata.uid == failures.uid), None)
    if failed is None:
        return problems
    name, successor = failed.metadata.name, restarts.find_successor(failed, pods)
    if successor is not None and (
        successor.is_ready or was_ready(successor) or restarts.is_restart(failed, successor)
    ):
        return problems
    repeated = restarts.find_repeated_failure(name, failures, successor)
    if repeated is None:
        return problems
    chain = {name, *([successor.metadata.name] if successor is not None else [])}
    return [repeated, *(each for each in problems if each.pod not in chain)]


def _describe_pods(problems: Sequence[PodProblem]) -> str:
    if not problems:
        return ""
    more = len(problems) - 1
    others = f", {more} more pod{'s' if more > 1 else ''} not ready" if more else ""
    return f"; pod {problems[0].pod} {problems[0].text}{others}"


def _trouble_kind(
    deployment: Deployment, worst: PodProblem | None, *, has_pods: bool
) -> TroubleKind:
    """Tell a normal change (STARTING) from a hard error (FAILED) and from a loss (LOST)."""
    if worst is not None and worst.kind is TroubleKind.FAILED:
        return TroubleKind.FAILED
    if is_deadline_exceeded(deployment):
        return TroubleKind.FAILED
    if is_rolling_out(deployment):
        return TroubleKind.STARTING
    if worst is not None:
        return worst.kind
    # Pods are being created, or those that are seen are all Ready and the status is about to follow.
    is_starting = deployment.status.replicas < deployment.desired_replicas or has_pods
    return TroubleKind.STARTING if is_starting else TroubleKind.LOST


def _describe_state(deployment: Deployment, *, is_out: bool) -> str:
    status, desired = deployment.status, deployment.desired_replicas
    extent = "unavailable" if is_out else "degraded"
    state = f"is {extent}: {status.ready_replicas}/{desired} replicas ready"
    if is_rolling_out(deployment) or status.updated_replicas < min(desired, status.replicas):
        state += f" ({status.updated_replicas}/{desired} updated)"
    return state + (" and paused" if deployment.spec.paused else "")


def _new_trouble(deployment: Deployment, code: str, kind: TroubleKind, state: str) -> Trouble:
    meta = deployment.metadata
    return Trouble(
        cause=Cause(DEPLOYMENTS.ref_to(deployment), code),
        kind=kind,
        object_created_at=meta.creation_timestamp,
        message_fields={
            "object": f"Deployment {meta.namespace}/{meta.name}",
            "state": state,
            "pods": "",
        },
    )
