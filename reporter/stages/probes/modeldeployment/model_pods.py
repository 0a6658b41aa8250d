"""
Whether every replica of an InferenceSet has model pods that serve.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import find_condition
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.pods import PODS
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS, InferenceSet
from reporter.model.kinds.kaito.workspaces import WORKSPACES
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.stages.probes.probe import NoParameters, Probe, ProbeRequest
from reporter.stages.resources.check_result import CheckResult, check_decoded, to_verdict
from reporter.stages.resources.conditions import check_observed_generation, transition_time
from reporter.stages.resources.kaito.inference_sets import (
    check_all_decoded,
    find_model_pods,
    find_workspaces,
    get_inference_set,
    pods_of_workspace,
)
from reporter.stages.resources.kaito.workspaces import (
    POD_REASON_CODES,
    ModelReplica,
    evaluate_replica,
)
from reporter.stages.snapshot.snapshot import Snapshot


INFERENCE_SET_FAILED = "inferencesetFailed"
"""
KAITO could not act on the InferenceSet; its next try overwrites it.
"""


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    yield to_verdict(snapshot, question.key(), _find_troubles(snapshot, question.subject))


def _find_troubles(snapshot: Snapshot, subject: Subject) -> Iterable[CheckResult | None]:
    wanted = get_inference_set(snapshot, subject)
    late = check_decoded(snapshot, INFERENCE_SETS, subject.namespace, subject.name)
    if late or wanted is None:
        return [late]
    pods, replicas = find_model_pods(snapshot, subject), find_workspaces(snapshot, subject)
    late = check_all_decoded(snapshot, WORKSPACES, subject, replicas) or check_all_decoded(
        snapshot, PODS, subject, pods
    )
    if late:
        return [late]
    models = [ModelReplica(each, pods_of_workspace(pods, each)) for each in replicas]
    failing = [model for model in models if not model.is_serving]
    spare = len(models) - len(failing) >= wanted.desired_replicas
    found = [evaluate_replica(replace(model, is_spare=spare)) for model in failing]
    return [*found, _missing_workspaces_trouble(wanted, models)]


def _missing_workspaces_trouble(
    wanted: InferenceSet, models: Sequence[ModelReplica]
) -> CheckResult | None:
    """
    KAITO makes a Workspace for each replica, within seconds; a set that scales up lacks some.
    """
    if len(models) >= wanted.desired_replicas:
        return None
    meta = wanted.metadata
    ready = find_condition(wanted.status.conditions, "InferenceSetReady")
    failed = ready is not None and ready.status == "False" and ready.reason == INFERENCE_SET_FAILED
    if (
        failed
        and ready is not None
        and (late := check_observed_generation(ready, meta, f"InferenceSet {meta.name}"))
    ):
        return late
    made = f"has made {len(models)}/{wanted.desired_replicas} Workspaces"
    return Trouble(
        cause=Cause(
            ObjectRef(INFERENCE_SETS.group_resource, meta.namespace, meta.name), "NoWorkspace"
        ),
        kind=TroubleKind.FAILED if failed else TroubleKind.STARTING,
        is_out=not models,
        object_created_at=meta.creation_timestamp,
        since=transition_time(ready, meta)
        if ready is not None and ready.status == "False"
        else None,
        message_fields={"object": "KAITO", "state": made, "pods": ""},
        foreign_text=(ready.message or "") if failed and ready is not None else "",
    )


PROBE = Probe(
    ProbeSpec(
        name="model-pods",
        parameters_type=NoParameters,
        message_fields=frozenset({"object", "state", "pods"}),
        cause_codes=frozenset(
            {*POD_REASON_CODES.values(), "NotReady", "Lost", "Workspace", "NoWorkspace", "Missing"}
        ),
        required_kinds=(INFERENCE_SETS, WORKSPACES, PODS),
        optional_kinds=(NAMESPACES,),
        required_crds=lambda _: frozenset(
            {INFERENCE_SETS.group_resource, WORKSPACES.group_resource}
        ),
        pauses_at_zero_replicas=True,
    ),
    evaluate,
)
