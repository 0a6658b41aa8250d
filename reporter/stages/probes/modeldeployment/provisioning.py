"""
Whether the GPU nodes of an InferenceSet come.

A node takes minutes on its way, so only what a cloud refuses counts soon. What it refused last is
remembered while the next try waits. With Karpenter as a source, the NodeClaims themselves are told of.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reporter.model.entries import ProbeSpec
from reporter.model.enums import DetailSource, TroubleKind
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.keys import workspace_key
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.pods import PODS
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.kinds.kaito.workspaces import WORKSPACES, Workspace
from reporter.model.kinds.karpenter.node_claims import NODE_CLAIMS, NodeClaim
from reporter.model.verdicts import Cause, Trouble, Verdict
from reporter.stages.probes.probe import NoParameters, Probe, ProbeRequest
from reporter.stages.resources.check_result import CheckResult, to_verdict
from reporter.stages.resources.conditions import (
    check_observed_generation,
    reason_text,
    transition_time,
)
from reporter.stages.resources.kaito.inference_sets import (
    check_all_decoded,
    find_model_pods,
    find_workspaces,
    get_inference_set,
    pods_of_workspace,
    workspace_ref,
)
from reporter.stages.resources.kaito.node_claims import (
    LIFECYCLE_CONDITIONS,
    StuckNodeClaim,
    find_stuck_claim,
    has_launched_machines,
)
from reporter.stages.resources.kaito.nodes import (
    NODE_CLAIM_READY,
    NODES_READY,
    find_workspace_error,
    is_condition_true,
)
from reporter.stages.resources.kaito.workspaces import ModelReplica
from reporter.stages.snapshot.snapshot import Snapshot


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    yield to_verdict(snapshot, question.key(), _find_troubles(snapshot, question))


def _find_troubles(snapshot: Snapshot, question: ProbeRequest) -> Iterable[CheckResult | None]:
    subject = question.subject
    if get_inference_set(snapshot, subject) is None:
        return []
    replicas = find_workspaces(snapshot, subject)
    late = check_all_decoded(snapshot, WORKSPACES, subject, replicas)
    if late:
        return [late]
    pods = find_model_pods(snapshot, subject)
    return [
        _evaluate_replica(snapshot, question, ModelReplica(each, pods_of_workspace(pods, each)))
        for each in replicas
    ]


def _evaluate_replica(
    snapshot: Snapshot, question: ProbeRequest, model: ModelReplica
) -> CheckResult | None:
    """
    The Workspace's trouble, told by the NodeClaim that it comes from where these are read.
    """
    workspace, claims = model.workspace, _find_node_claims(snapshot, question, model.workspace)
    found = _evaluate_workspace(
        model, _remembered_error(model, snapshot.provisioning_error(workspace), claims)
    )
    first = find_stuck_claim(claims)
    if first is None or not isinstance(found, Trouble):
        return found
    stated = is_condition_true(find_condition(workspace.status.conditions, NODE_CLAIM_READY))
    if first.has_error and not stated:
        since = first.pending.last_transition_time
        found = replace(found, cause=_cause(workspace, _error_code(first.pending)), since=since)
        return _with_claim(replace(found, kind=TroubleKind.FAILED), first)
    return _with_claim(found, first) if found.kind is TroubleKind.STARTING else found


def _remembered_error(
    model: ModelReplica, refused: Condition | None, claims: Sequence[NodeClaim]
) -> Condition | None:
    """
    Until there is a machine; what only a claim told of counts while pods wait for it.
    """
    told_by_claim = refused is not None and refused.type in LIFECYCLE_CONDITIONS
    overcome = has_launched_machines(claims, model.workspace.status.target_node_count)
    return None if overcome or (told_by_claim and model.is_serving) else refused


def _find_node_claims(
    snapshot: Snapshot, question: ProbeRequest, of: Workspace
) -> tuple[NodeClaim, ...]:
    if not snapshot.has_synced(NODE_CLAIMS) or NODE_CLAIMS.resource in question.unwatched:
        return ()
    key = workspace_key(of.metadata.namespace, of.metadata.name)
    return snapshot.by_index(NODE_CLAIMS, NodeClaim, key)


def _with_claim(found: Trouble, by: StuckNodeClaim) -> Trouble:
    about = f"NodeClaim {by.name} of {found.message_fields['object']}"
    return replace(
        found,
        message_fields={"object": about, "state": _describe_condition(by.pending)},
        foreign_text=by.pending.message or "",
    )


def _evaluate_workspace(model: ModelReplica, refused: Condition | None) -> CheckResult | None:
    """
    *refused*: the last real error that is not overcome.
    """
    workspace = model.workspace
    meta, conditions = workspace.metadata, workspace.status.conditions
    claims, nodes = (
        find_condition(conditions, NODE_CLAIM_READY),
        find_condition(conditions, NODES_READY),
    )
    told = claims if claims is not None and not is_condition_true(claims) else nodes
    late = (
        check_observed_generation(told, meta, f"Workspace {meta.namespace}/{meta.name}")
        if told
        else None
    )
    if late:
        return late
    error = find_workspace_error(workspace) or (refused if not is_condition_true(claims) else None)
    if error is not None:
        return _error_trouble(workspace, claims or error, error)
    if (is_condition_true(claims) and is_condition_true(nodes)) or model.is_serving:
        # Whatever still waits under Ready pods is in nobody's way.
        return None
    if not conditions:
        return _waiting_trouble(
            workspace, "NoNodeClaim", None, "was not taken up by KAITO's controller yet"
        )
    if claims is not None and not is_condition_true(claims):
        return _waiting_trouble(workspace, "NoProgress", claims, _describe_condition(claims))
    if nodes is not None and not is_condition_true(nodes):
        return _waiting_trouble(workspace, "NodesNotReady", nodes, _describe_condition(nodes))
    return None


def _error_trouble(workspace: Workspace, now: Condition, error: Condition) -> Trouble:
    state = _describe_condition(error)
    if now.type == NODE_CLAIM_READY and now != error and now.reason != error.reason:
        state = f"{_describe_condition(now)[:-1]}, before that {reason_text(error)})"
    return replace(
        _waiting_trouble(workspace, _error_code(error), now, state),
        kind=TroubleKind.FAILED,
        foreign_text=error.message or "",
    )


def _waiting_trouble(workspace: Workspace, code: str, by: Condition | None, state: str) -> Trouble:
    meta = workspace.metadata
    return Trouble(
        cause=_cause(workspace, code),
        kind=TroubleKind.STARTING,
        is_out=True,
        since=transition_time(by, meta) if by is not None else meta.creation_timestamp,
        object_created_at=meta.creation_timestamp,
        message_fields={"object": f"Workspace {meta.name}", "state": state},
        foreign_text=(by.message or "") if by is not None else "",
    )


def _cause(workspace: Workspace, code: str) -> Cause:
    return Cause(workspace_ref(workspace), code)


def _describe_condition(found: Condition) -> str:
    return f"{found.type}={found.status} ({reason_text(found)})"


def _error_code(error: Condition) -> str:
    """
    Which kind of refusal; the reasons are those of Karpenter and of Azure's provider.
    """
    reason = (error.reason or "").lower()
    text = (error.message or "").lower() if reason == "launchfailed" else ""
    if "quota" in reason or "quota" in text:
        return "Quota"
    if "instancetype" in reason:
        return "InstanceType"
    words = ("allocationfailure", "skunotavailable", "capacity")
    if any(word in reason for word in words) or "unavailable" in text or "capacity" in text:
        return "Capacity"
    return "NodeClaimFailed"


PROBE = Probe(
    ProbeSpec(
        name="provisioning",
        parameters_type=NoParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset(
            {
                "Quota",
                "Capacity",
                "InstanceType",
                "NodeClaimFailed",
                "NoNodeClaim",
                "NoProgress",
                "NodesNotReady",
            }
        ),
        required_kinds=(INFERENCE_SETS, WORKSPACES),
        optional_kinds=(PODS, NAMESPACES),
        required_crds=lambda _: frozenset(
            {INFERENCE_SETS.group_resource, WORKSPACES.group_resource}
        ),
        pauses_at_zero_replicas=True,
        kinds_by_source={DetailSource.KARPENTER: (NODE_CLAIMS,)},
    ),
    evaluate,
)
