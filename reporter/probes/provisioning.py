"""
Probe for GPU nodes of an InferenceSet that a cloud refuses, or that do not come.

A node takes minutes to come, so only an error counts soon. The last error is remembered while the next
attempt waits. With the source ``karpenter`` the message quotes the NodeClaim instead of KAITO's copy.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES, NODES, PODS
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES, Workspace
from reporter.kinds.karpenter import NODE_CLAIMS, NODE_POOLS, NodeClaim, NodePool
from reporter.kinds.objects import Condition, find_condition, workspace_key
from reporter.model.enums import DetailSource, TroubleKind
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import inference_sets, machines
from reporter.resources.check_result import CheckResult, Inconclusive, limit_to
from reporter.resources.conditions import (
    check_observed_generation,
    describe_condition,
    is_condition_true,
    reason_text,
    with_condition,
)
from reporter.resources.lost_nodes import describe_lost, find_lost_nodes
from reporter.resources.machines import StuckNodeClaim
from reporter.resources.replicas import (
    DEGRADED,
    ModelReplica,
    ServingReplicas,
    has_served,
    lost_nodes_of,
    upgrade_started_at,
)
from reporter.snapshot.snapshot import Snapshot


NODE_LOST = "NodeLost"


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Return the results of the Workspaces of an InferenceSet, with None for those that have their nodes.

    The extent of an outage is added only while pods are watched, since it counts replicas by their pods.
    """
    subject = request.subject
    inference_set = inference_sets.get_inference_set(snapshot, subject)
    if inference_set is None:
        return []
    workspaces = inference_sets.find_workspaces(snapshot, subject)
    pods = inference_sets.find_model_pods(snapshot, subject)
    replicas = [
        ModelReplica(each, inference_sets.pods_of_workspace(pods, each)) for each in workspaces
    ]
    lost = find_lost_nodes(snapshot)
    results: list[CheckResult | None] = []
    for replica in replicas:
        result = _evaluate_replica(snapshot, request, replica)
        # Most results are None, for which no reference is built.
        if result is not None:
            result = _with_nodes(result, lost_nodes_of(replica, lost))
            result = limit_to(result, WORKSPACES.ref_to(replica.workspace))
        results.append(result)
    if not any(isinstance(each, Trouble) for each in results) or snapshot.why_not_synced(PODS):
        return results
    serving = sum(replica.is_serving for replica in replicas)
    of_set = ServingReplicas.of(workspaces, serving, inference_set.desired_replicas)
    return [_with_extent(result, of_set) for result in results]


def _with_nodes(result: CheckResult, names: Sequence[str]) -> CheckResult:
    """Name the Nodes whose loss the conditions of a Workspace state."""
    if not names or not isinstance(result, Trouble) or result.cause.code != NODE_LOST:
        return result
    state = f"{result.message_fields['state']}; {describe_lost(names)}"
    fields = {**result.message_fields, "state": state}
    return replace(result, message_fields=fields, nodes=frozenset(names))


def _with_extent(result: CheckResult | None, of_set: ServingReplicas) -> CheckResult | None:
    if not isinstance(result, Trouble):
        return result
    return replace(
        result,
        cause=Cause(result.cause.object, of_set.cause_code(result.cause.code)),
        is_out=of_set.is_out,
        message_fields={**result.message_fields, "extent": of_set.describe()},
    )


def _evaluate_replica(
    snapshot: Snapshot, request: ProbeRequest, replica: ModelReplica
) -> CheckResult | None:
    """
    Evaluate a replica's Workspace, with the words of the NodeClaim behind it where these are read.

    An error of a claim counts even before KAITO has copied it, except over NodeClaimReady=True.
    """
    workspace = replica.workspace
    claims = _find_node_claims(snapshot, request, workspace)
    known = snapshot.provisioning_error(workspace) or _pool_error(snapshot, request, workspace)
    error = _unresolved_error(replica, known, claims)
    result = _evaluate_workspace(replica, error)
    stuck = machines.find_stuck_claim(claims)
    if stuck is None or result is None:
        return result
    claim_ready = find_condition(workspace.status.conditions, machines.NODE_CLAIM_READY)
    if stuck.has_error and not is_condition_true(claim_ready):
        # Karpenter writes the claim, whatever KAITO has not looked at yet.
        trouble = _waiting_trouble(
            workspace, machines.classify_error(stuck.pending), stuck.pending, ""
        )
        since = stuck.pending.last_transition_time
        return _with_claim(replace(trouble, kind=TroubleKind.FAILED, since=since), stuck)
    if isinstance(result, Inconclusive) or result.kind is not TroubleKind.STARTING:
        return result
    return _with_claim(result, stuck)


def _unresolved_error(
    replica: ModelReplica, error: Condition | None, claims: Sequence[NodeClaim]
) -> Condition | None:
    """
    Return the last error unless it is overcome: all machines are launched, or registered.

    An error that only a claim or its pool stated is also overcome when the replica serves.
    """
    if error is None:
        return None
    is_from_claim = error.type in {*machines.LIFECYCLE_CONDITIONS, machines.REGISTRATION_HEALTHY}
    nodes = replica.workspace.status.target_node_count
    is_served = is_from_claim and replica.is_serving
    return None if is_served or machines.is_overcome(error, claims, nodes) else error


def _find_node_claims(
    snapshot: Snapshot, request: ProbeRequest, workspace: Workspace
) -> tuple[NodeClaim, ...]:
    if not snapshot.has_synced(NODE_CLAIMS) or NODE_CLAIMS.resource in request.unwatched:
        return ()
    key = workspace_key(workspace.metadata.namespace, workspace.metadata.name)
    return snapshot.by_index(NODE_CLAIMS, NodeClaim, key)


def _pool_error(
    snapshot: Snapshot, request: ProbeRequest, workspace: Workspace
) -> Condition | None:
    """Return why the NodePool of a Workspace gets no nodes; nothing if NodePools are not read."""
    if not snapshot.has_synced(NODE_POOLS) or NODE_POOLS.resource in request.unwatched:
        return None
    key = workspace_key(workspace.metadata.namespace, workspace.metadata.name)
    return machines.find_pool_error(snapshot.by_index(NODE_POOLS, NodePool, key))


def _with_claim(trouble: Trouble, claim: StuckNodeClaim) -> Trouble:
    """Return a Workspace's trouble in the words of a NodeClaim, one of many that come and go."""
    about = f"a NodeClaim of {trouble.message_fields['object']}"
    return replace(
        trouble,
        message_fields={
            **trouble.message_fields,
            "object": about,
            "state": describe_condition(claim.pending),
        },
        foreign_text=claim.pending.message or "",
    )


def _evaluate_workspace(replica: ModelReplica, last_error: Condition | None) -> CheckResult | None:
    """
    Evaluate the conditions of a Workspace.

    *last_error*: the last provisioning error that is not overcome. It counts again while the next
    attempt waits.
    """
    workspace = replica.workspace
    meta, conditions = workspace.metadata, workspace.status.conditions
    claim_ready = find_condition(conditions, machines.NODE_CLAIM_READY)
    nodes_ready = find_condition(conditions, machines.NODES_READY)
    is_claimed = is_condition_true(claim_ready)
    decisive = nodes_ready if claim_ready is None or is_claimed else claim_ready
    stale = check_observed_generation(decisive, meta, "Workspace")
    if stale:
        return stale
    error = machines.find_workspace_error(workspace) or (None if is_claimed else last_error)
    if error is not None:
        return _error_trouble(workspace, claim_ready or error, error)
    if (is_claimed and is_condition_true(nodes_ready)) or replica.is_serving:
        # Under Ready pods, a condition that still waits harms nobody.
        return None
    if not conditions:
        state = "was not taken up by KAITO's controller yet"
        return _waiting_trouble(workspace, "NoNodeClaim", None, state)
    if decisive is None or is_condition_true(decisive):
        return None
    code, is_claim = ("NoProgress", True) if decisive is claim_ready else ("NodesNotReady", False)
    trouble = _waiting_trouble(workspace, code, decisive, describe_condition(decisive))
    # Nodes that were Ready are lost unless new ones are on their way.
    is_lost = not is_claim and has_served(workspace) and upgrade_started_at(workspace) is None
    lost = replace(
        trouble, cause=Cause(WORKSPACES.ref_to(workspace), NODE_LOST), kind=TroubleKind.LOST
    )
    return lost if is_lost else trouble


def _error_trouble(workspace: Workspace, current: Condition, error: Condition) -> Trouble:
    """
    Build the trouble of an error; *current* is the condition of now, which may only be waiting.
    """
    if machines.is_loss_of_machines(error):
        state = "gets machines that are given up, one after the other, before their Nodes register"
        waiting = _waiting_trouble(workspace, machines.classify_error(error), current, state)
        return replace(waiting, kind=TroubleKind.FAILED)
    state = describe_condition(error)
    is_earlier = current != error and current.reason != error.reason
    if current.type == machines.NODE_CLAIM_READY and is_earlier:
        state = f"{describe_condition(current)[:-1]}, before that {reason_text(error)})"
    return replace(
        _waiting_trouble(workspace, machines.classify_error(error), current, state),
        kind=TroubleKind.FAILED,
        foreign_text=error.message or "",
    )


def _waiting_trouble(
    workspace: Workspace, code: str, condition: Condition | None, state: str
) -> Trouble:
    meta = workspace.metadata
    trouble = Trouble(
        cause=Cause(WORKSPACES.ref_to(workspace), code),
        kind=TroubleKind.STARTING,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        message_fields={"extent": "", "object": f"Workspace {meta.name}", "state": state},
    )
    return with_condition(trouble, condition, meta)


PROBE = Probe(
    ProbeSpec(
        name="provisioning",
        parameters_type=ProbeParameters,
        message_fields=frozenset({"extent", "object", "state"}),
        cause_codes=frozenset(
            {
                DEGRADED,
                "Quota",
                "Capacity",
                "InstanceType",
                "Forbidden",
                "NodeClaimFailed",
                "NotRegistered",
                "NoNodeClaim",
                "NoProgress",
                "NodesNotReady",
                NODE_LOST,
            }
        ),
        own_causes=frozenset({"Quota", "Capacity", "InstanceType", "Forbidden"}),
        required_kinds=(INFERENCE_SETS, WORKSPACES),
        optional_kinds=(PODS, NODES, NAMESPACES),
        required_crds=crds_of(INFERENCE_SETS, WORKSPACES),
        pauses_at_zero_replicas=True,
        kinds_by_source={DetailSource.KARPENTER: (NODE_CLAIMS, NODE_POOLS)},
    ),
    evaluate,
)
