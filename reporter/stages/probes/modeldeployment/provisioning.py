"""
Whether the GPU nodes of an InferenceSet come.

A node takes minutes on its way, so only what a cloud refuses counts soon. What it refused last is
remembered while the next try waits. With Karpenter as a source, the NodeClaims themselves are told of.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reporter.model.entries import ProbeSpec
from reporter.model.kaito_objects import Workspace
from reporter.model.kinds import INFERENCE_SETS, NAMESPACES, NODE_CLAIMS, PODS, WORKSPACES
from reporter.model.node_objects import NodeClaim
from reporter.model.objects import Condition, condition
from reporter.model.verdicts import Cause, Trouble, Verdict
from reporter.model.words import Kind, Source
from reporter.stages.conditions import named, since, stale
from reporter.stages.indexes import by_workspace
from reporter.stages.models import (
    inference_set,
    model_pods,
    of_workspace,
    reference,
    unread,
    workspaces,
)
from reporter.stages.node_claims import STEPS, Stuck, launched, stuck
from reporter.stages.nodes import CLAIMS, NODES, holds, refusal
from reporter.stages.probes.probe import NoParameters, Probe, Question
from reporter.stages.ruling import Found, ruling
from reporter.stages.snapshot import Snapshot
from reporter.stages.workspaces import Model


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    yield ruling(snapshot, question.key(), _found(snapshot, question))


def _found(snapshot: Snapshot, question: Question) -> Iterable[Found | None]:
    subject = question.subject
    if inference_set(snapshot, subject) is None:
        return []
    replicas = workspaces(snapshot, subject)
    late = unread(snapshot, WORKSPACES, subject, replicas)
    if late:
        return [late]
    pods = model_pods(snapshot, subject)
    return [
        _by_claims(snapshot, question, Model(each, of_workspace(pods, each))) for each in replicas
    ]


def _by_claims(snapshot: Snapshot, question: Question, model: Model) -> Found | None:
    """
    The Workspace's trouble, told by the NodeClaim that it comes from where these are read.
    """
    workspace, claims = model.workspace, _claims(snapshot, question, model.workspace)
    found = _one(model, _remembered(model, snapshot.refusal(workspace), claims))
    first = stuck(claims)
    if first is None or not isinstance(found, Trouble):
        return found
    stated = holds(condition(workspace.status.conditions, CLAIMS))
    if first.refused and not stated:
        since = first.step.last_transition_time
        found = replace(found, cause=_cause(workspace, _code(first.step)), since=since)
        return _told(replace(found, kind=Kind.FAILED), first)
    return _told(found, first) if found.kind is Kind.STARTING else found


def _remembered(
    model: Model, refused: Condition | None, claims: Sequence[NodeClaim]
) -> Condition | None:
    """
    Until there is a machine; what only a claim told of counts while pods wait for it.
    """
    told_by_claim = refused is not None and refused.type in STEPS
    overcome = launched(claims, model.workspace.status.target_node_count)
    return None if overcome or (told_by_claim and model.serves) else refused


def _claims(snapshot: Snapshot, question: Question, of: Workspace) -> tuple[NodeClaim, ...]:
    if not snapshot.sees(NODE_CLAIMS) or NODE_CLAIMS.resource in question.unwatched:
        return ()
    key = by_workspace(of.metadata.namespace, of.metadata.name)
    return snapshot.find(NODE_CLAIMS, NodeClaim, key)


def _told(found: Trouble, by: Stuck) -> Trouble:
    about = f"NodeClaim {by.claim} of {found.fields['object']}"
    return replace(
        found,
        fields={"object": about, "state": _state(by.step)},
        foreign=by.step.message or "",
    )


def _one(model: Model, refused: Condition | None) -> Found | None:
    """
    *refused*: the last real error that is not overcome.
    """
    workspace = model.workspace
    meta, conditions = workspace.metadata, workspace.status.conditions
    claims, nodes = condition(conditions, CLAIMS), condition(conditions, NODES)
    told = claims if claims is not None and not holds(claims) else nodes
    late = stale(told, meta, f"Workspace {meta.namespace}/{meta.name}") if told else None
    if late:
        return late
    error = refusal(workspace) or (refused if not holds(claims) else None)
    if error is not None:
        return _refused(workspace, claims or error, error)
    if (holds(claims) and holds(nodes)) or model.serves:
        # Whatever still waits under Ready pods is in nobody's way.
        return None
    if not conditions:
        return _waits(workspace, "NoNodeClaim", None, "was not taken up by KAITO's controller yet")
    if claims is not None and not holds(claims):
        return _waits(workspace, "NoProgress", claims, _state(claims))
    if nodes is not None and not holds(nodes):
        return _waits(workspace, "NodesNotReady", nodes, _state(nodes))
    return None


def _refused(workspace: Workspace, now: Condition, error: Condition) -> Trouble:
    state = _state(error)
    if now.type == CLAIMS and now != error and now.reason != error.reason:
        state = f"{_state(now)[:-1]}, before that {named(error)})"
    return replace(
        _waits(workspace, _code(error), now, state),
        kind=Kind.FAILED,
        foreign=error.message or "",
    )


def _waits(workspace: Workspace, code: str, by: Condition | None, state: str) -> Trouble:
    meta = workspace.metadata
    return Trouble(
        cause=_cause(workspace, code),
        kind=Kind.STARTING,
        out=True,
        since=since(by, meta) if by is not None else meta.creation_timestamp,
        born=meta.creation_timestamp,
        fields={"object": f"Workspace {meta.name}", "state": state},
        foreign=(by.message or "") if by is not None else "",
    )


def _cause(workspace: Workspace, code: str) -> Cause:
    return Cause(reference(workspace), code)


def _state(found: Condition) -> str:
    return f"{found.type}={found.status} ({named(found)})"


def _code(error: Condition) -> str:
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
        parameters=NoParameters,
        fields=frozenset({"object", "state"}),
        codes=frozenset(
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
        requires=(INFERENCE_SETS, WORKSPACES),
        uses=(PODS, NAMESPACES),
        demands=lambda _: frozenset({INFERENCE_SETS.qualified, WORKSPACES.qualified}),
        pauses=True,
        sources={Source.KARPENTER: (NODE_CLAIMS,)},
    ),
    judge,
)
