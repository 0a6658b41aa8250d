"""
The reason why one replica of an InferenceSet does not serve.

The pods' own status decides. KAITO's InferenceReady is used only where the pods report nothing,
because it lags and misleads (KAITO, pkg/workspace/controllers/workspace_controller.go): it is pending
while a NodeClaim changes under Ready pods, calls a pod unschedulable whose node is still on its way,
keeps an OOMKilled of a container's last run and the name of an evicted pod, and in old releases stays
True while pods crash.
"""

from datetime import timedelta

from msgspec.structs import replace

from reporter.kinds.kaito import Workspace
from reporter.kinds.objects import Condition, find_condition
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import sanitize, truncate_bytes
from reporter.model.verdicts import Trouble
from reporter.resources import machines, replicas
from reporter.resources.check_result import CheckResult
from reporter.resources.conditions import (
    MAX_REASON_BYTES,
    check_observed_generation,
    describe_condition,
    is_condition_true,
    transition_time,
    with_condition,
)
from reporter.resources.pods import is_leftover_pod
from reporter.resources.replicas import ModelReplica


INFERENCE_READY = "InferenceReady"
INFERENCE_PENDING = "WorkspaceInferenceStatusPending"
POD_REASON_CODES = {
    "ContainerCrashLoopBackOff": "Crash",
    "ContainerOOMKilled": "OutOfMemory",
    "ContainerStartError": "StartError",
    "ImagePullError": "ImagePull",
    "NodeDiskPressure": "Evicted",
    "NodeMemoryPressure": "Evicted",
    "PodEvicted": "Evicted",
    "SASTokenFetchFailed": "Crash",
    "Unschedulable": "Unschedulable",
}
"""
Reasons of InferenceReady that KAITO derives from the pods, with the cause code of each.

They count only where no pod is seen, as the pods state the same earlier and more exactly.
"""


NODE_PRESSURE_REASONS = frozenset({"NodeDiskPressure", "NodeMemoryPressure"})


RECONCILE_ERROR = "(last reconcile error: "
"""
The error of its last reconciliation, which KAITO adds to the messages of all conditions of a Workspace,
also of those that are True. A message may be cut before the bracket.
"""


def evaluate_replica(replica: ModelReplica, error_hold: timedelta) -> CheckResult | None:
    """
    Return why a replica does not serve; None for a replica that serves or waits for a node.

    *error_hold*: how long KAITO may try to get over an error of its own.
    """
    if replica.is_serving:
        return None
    problems = replicas.find_replica_problems(replica)
    if problems and problems[0].kind is TroubleKind.FAILED:
        return replicas.pod_trouble(replica, problems)
    stated = _stated_trouble(replica)
    if isinstance(stated, Trouble):
        return stated
    trouble = (
        replicas.pod_trouble(replica, problems)
        if problems
        else _missing_pods_trouble(replica, is_changing=stated is not None)
    )
    error = _reconcile_error(replica.workspace) if stated is None else ""
    if error and (not problems or trouble.kind is TroubleKind.STARTING):
        # A healthy start never states one. It may pass, as that of a webhook does which is not ready.
        of_error = replicas.replica_trouble(replica, "ReconcileError", trouble.kind)
        trouble = replace(
            of_error,
            hold=error_hold if trouble.kind is TroubleKind.STARTING else None,
            message_fields={**of_error.message_fields, "state": "cannot be reconciled by KAITO"},
            foreign_text=error,
        )
    # The pods' own status, and their absence, are facts whatever KAITO has not looked at yet.
    return _unless_awaiting_node(replica, trouble)


def _unless_awaiting_node(replica: ModelReplica, trouble: Trouble) -> Trouble | None:
    """
    Drop the trouble of a pod without a node while nodes are on their way.

    That is the provisioning probe's to report, as is a node that was refused to a replica which
    served. The time that a model may take to start begins when its node is there.
    """
    if trouble.cause.code.removeprefix(f"{replicas.DEGRADED}.") not in {
        "Missing",
        "Unschedulable",
    }:
        return trouble
    if machines.nodes_ready(replica.workspace):
        came_at = machines.nodes_ready_at(replica.workspace)
        since = trouble.since and max(trouble.since, came_at or trouble.since)
        return replace(trouble, since=since)
    is_waiting = trouble.kind is TroubleKind.STARTING or replica.has_node_error
    return None if is_waiting else trouble


# ---------------------------------------------------------------- KAITO's conditions


def _stated_trouble(replica: ModelReplica) -> CheckResult | None:
    """Return an error that only KAITO states: of no pod, or of pods that are not seen."""
    meta, conditions = replica.workspace.metadata, replica.workspace.status.conditions
    inference = find_condition(conditions, INFERENCE_READY)
    resources = find_condition(conditions, machines.RESOURCE_READY)
    stale = check_observed_generation(inference, meta, "Workspace")
    if stale and not replica.counted_pods:
        return stale
    if inference is not None and _is_error(replica, inference):
        return stale or _condition_trouble(replica, inference)
    has_claims = is_condition_true(find_condition(conditions, machines.NODE_CLAIM_READY))
    if has_claims and resources is not None and _is_error(replica, resources):
        stale = check_observed_generation(resources, meta, "Workspace")
        return stale or _condition_trouble(replica, resources)
    return None


def _is_error(replica: ModelReplica, condition: Condition) -> bool:
    reason = condition.reason or ""
    is_pending = reason in machines.TRANSIENT_REASONS or reason == INFERENCE_PENDING
    if is_condition_true(condition) or is_pending:
        return False
    if reason == "Unschedulable" and not machines.nodes_ready(replica.workspace):
        return False
    # Pressure of a node keeps off the successor of a pod that is going.
    pods = replica.counted_pods if reason in NODE_PRESSURE_REASONS else replica.pods
    return reason not in POD_REASON_CODES or not pods


def _condition_trouble(replica: ModelReplica, condition: Condition) -> Trouble:
    code = POD_REASON_CODES.get(condition.reason or "", "Workspace")
    trouble = replicas.replica_trouble(replica, code, TroubleKind.FAILED)
    trouble = replace(
        trouble,
        is_crash=code in {"Crash", "OutOfMemory"},
        message_fields={**trouble.message_fields, "state": describe_condition(condition)},
    )
    return with_condition(trouble, condition, replica.workspace.metadata)


def _reconcile_error(workspace: Workspace) -> str:
    """Return the error that keeps KAITO from reconciling a Workspace, "" if it states none."""
    messages = (each.message or "" for each in workspace.status.conditions or ())
    found = (message.partition(RECONCILE_ERROR)[2] for message in messages)
    return next((error.strip().removesuffix(")") for error in found if error), "")


# ---------------------------------------------------------------- missing pods


def _missing_pods_trouble(replica: ModelReplica, *, is_changing: bool) -> Trouble:
    """
    Build the trouble of a replica with fewer pods than nodes, or none.

    Missing pods are LOST only if the replica has served before and no change explains them.
    *is_changing*: KAITO has yet to act on a newer spec.
    """
    workspace, present = replica.workspace, len(replica.counted_pods)
    desired = max(workspace.status.target_node_count, 1)
    inference = find_condition(workspace.status.conditions, INFERENCE_READY)
    is_replacing = len(replica.pods) > present
    is_changing = (
        is_changing
        or is_replacing
        or replica.is_spare
        or replicas.upgrade_started_at(workspace) is not None
    )
    is_lost = replicas.has_served(workspace) and not is_changing
    trouble = replicas.replica_trouble(
        replica, "Missing", TroubleKind.LOST if is_lost else TroubleKind.STARTING
    )
    state = f"has {present}/{desired} model pods" if present else "has no model pod"
    if is_replacing:
        state += f", the old one is being replaced{_describe_leftover(replica)}"
    since = workspace.metadata.creation_timestamp
    if inference is not None:
        # Since when it has been True says nothing about pods that are missing now.
        is_ready = is_condition_true(inference)
        since = None if is_ready else transition_time(inference, workspace.metadata)
    return replace(
        trouble,
        since=None if is_lost else since,
        message_fields={**trouble.message_fields, "state": state},
    )


def _describe_leftover(replica: ModelReplica) -> str:
    """Return why a pod is being replaced, as the kubelet states it; empty if it does not."""
    reasons = [pod.status.reason or "" for pod in replica.pods if is_leftover_pod(pod)]
    reason = sanitize(max(reasons, default=""))
    return f" ({truncate_bytes(reason, MAX_REASON_BYTES)})" if reason else ""
