"""
Probe for a Workspace that KAITO reports as failed although all of its pods are Ready.

The pods decide whether the model serves. But KAITO reads the same pods, so while the two disagree one of
them is wrong, or KAITO does not look any more.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES
from reporter.kinds.objects import Condition, find_condition
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import conditions, inference_sets
from reporter.resources.check_result import CheckResult, limit_to
from reporter.resources.machines import TRANSIENT_REASONS
from reporter.resources.replicas import ModelReplica
from reporter.resources.workspaces import INFERENCE_PENDING, INFERENCE_READY, NODE_PRESSURE_REASONS
from reporter.snapshot.snapshot import Snapshot


HARMLESS_REASONS = TRANSIENT_REASONS | NODE_PRESSURE_REASONS | {INFERENCE_PENDING}
"""Reasons that state no failure of the pods: KAITO waits, or it speaks of the node."""


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Yield the trouble of each Workspace whose InferenceReady is False while all its pods are Ready.

    Nothing is yielded for an InferenceSet that does not exist, or for the reasons in HARMLESS_REASONS.
    """
    subject = request.subject
    if inference_sets.get_inference_set(snapshot, subject) is None:
        return
    failed = [
        (workspace, inference)
        for workspace in inference_sets.find_workspaces(snapshot, subject)
        if (inference := find_condition(workspace.status.conditions, INFERENCE_READY)) is not None
        and inference.status == "False"
        and (inference.reason or "") not in HARMLESS_REASONS
    ]
    pods = inference_sets.find_model_pods(snapshot, subject) if failed else ()
    for workspace, inference in failed:
        replica = ModelReplica(workspace, inference_sets.pods_of_workspace(pods, workspace))
        yield limit_to(_evaluate_replica(replica, inference), WORKSPACES.ref_to(workspace))


def _evaluate_replica(replica: ModelReplica, inference: Condition) -> CheckResult | None:
    """
    Return the trouble of a replica whose pods are all Ready against KAITO's word.

    A pod that stays behind after an eviction keeps KAITO's word true.
    """
    pods = replica.counted_pods
    if not replica.is_serving or len(pods) < len(replica.pods):
        return None
    workspace = replica.workspace
    meta = workspace.metadata
    stale = conditions.check_observed_generation(inference, meta, "Workspace")
    if stale is not None:
        return stale
    are_ready = "its model pod is" if len(pods) == 1 else f"all its {len(pods)} model pods are"
    trouble = Trouble(
        cause=Cause(WORKSPACES.ref_to(workspace), "Contradicted"),
        kind=TroubleKind.LOST,
        object_created_at=meta.creation_timestamp,
        message_fields={
            "object": f"Workspace {meta.name}",
            "state": conditions.describe_condition(inference),
            "pods": f"{are_ready} Ready",
        },
    )
    stated = conditions.with_condition(trouble, inference, meta)
    # They disagree since the later of both: a word that the pods made true for hours is no older trouble.
    ready_pods = [
        (ready, pod.metadata) for pod in pods if (ready := pod.status.condition("Ready"))
    ]
    moments = [stated.since, *(conditions.transition_time(*each) for each in ready_pods)]
    return replace(stated, since=max(filter(None, moments), default=None))


PROBE = Probe(
    ProbeSpec(
        name="contradicted-status",
        parameters_type=ProbeParameters,
        message_fields=frozenset({"object", "state", "pods"}),
        cause_codes=frozenset({"Contradicted"}),
        required_kinds=(INFERENCE_SETS, WORKSPACES, PODS),
        optional_kinds=(NAMESPACES,),
        required_crds=crds_of(INFERENCE_SETS, WORKSPACES),
        pauses_at_zero_replicas=True,
    ),
    evaluate,
)
