"""
Probe for scaling annotations of an InferenceSet that keda-kaito-scaler ignores.

With the source ``keda`` the probe also checks the ScaledObject that the scaler creates from them, and
the HorizontalPodAutoscaler behind it.
"""

from collections.abc import Iterable

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES, InferenceSet
from reporter.kinds.keda import HORIZONTAL_POD_AUTOSCALERS, SCALED_OBJECTS
from reporter.model.enums import DetailSource, TroubleKind
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources.autoscaling import (
    AUTOSCALING_CODES,
    ScalerPlace,
    find_autoscaling_troubles,
)
from reporter.resources.check_result import CheckResult
from reporter.resources.components import ComponentSpec
from reporter.resources.conditions import with_detail
from reporter.resources.inference_sets import find_workspaces, get_inference_set
from reporter.resources.scaling_annotations import (
    AnnotationCode,
    ReplicaLimit,
    find_annotation_problems,
)
from reporter.snapshot.snapshot import Snapshot


MAX_LISTED_PROBLEMS = 3
"""Number of annotation problems that one message lists."""


class ScalingParameters(ProbeParameters, frozen=True):
    """The Deployment that reads the models' metrics for KEDA."""

    scaler: ComponentSpec


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Return the trouble of invalid annotations, or those of the ScaledObject and its autoscaler.

    The latter count only with the source keda, and while the annotations are valid: they belong to older
    annotations otherwise.
    """
    subject, unwatched = request.subject, request.unwatched
    inference_set = get_inference_set(snapshot, subject)
    if inference_set is None:
        return []
    node_limit = inference_set.spec.node_count_limit or 0
    workspaces = find_workspaces(snapshot, subject) if node_limit else ()
    nodes = (each.status.target_node_count for each in workspaces)
    limit = ReplicaLimit(node_limit, max(nodes, default=0))
    trouble = _annotation_trouble(inference_set, limit)
    if trouble is not None:
        # The scaler ignores invalid annotations, so KEDA's state belongs to older ones.
        return [trouble]
    scaler = ScalerPlace(request.parameters.scaler, request.flags)
    detail = find_autoscaling_troubles(snapshot, inference_set, unwatched, scaler)
    return with_detail([], detail, unwatched=unwatched.get(SCALED_OBJECTS.resource, ""))


def _annotation_trouble(inference_set: InferenceSet, limit: ReplicaLimit) -> Trouble | None:
    meta = inference_set.metadata
    problems = find_annotation_problems(meta.annotations or {}, limit)
    if not problems:
        return None
    state = "; ".join(each.text for each in problems[:MAX_LISTED_PROBLEMS])
    if len(problems) > MAX_LISTED_PROBLEMS:
        state += f"; and {len(problems) - MAX_LISTED_PROBLEMS} more"
    return Trouble(
        cause=Cause(INFERENCE_SETS.ref_to(inference_set), problems[0].code),
        kind=TroubleKind.DECLARED,
        object_created_at=meta.creation_timestamp,
        message_fields={"state": state},
    )


PROBE = Probe(
    ProbeSpec(
        name="scaling",
        parameters_type=ScalingParameters,
        message_fields=frozenset({"state"}),
        cause_codes=frozenset({*AnnotationCode, *AUTOSCALING_CODES}),
        required_kinds=(INFERENCE_SETS,),
        consulted_kinds=(WORKSPACES, DEPLOYMENTS, PODS),
        optional_kinds=(NAMESPACES,),
        required_crds=crds_of(INFERENCE_SETS),
        kinds_by_source={DetailSource.KEDA: (SCALED_OBJECTS, HORIZONTAL_POD_AUTOSCALERS)},
    ),
    evaluate,
)
