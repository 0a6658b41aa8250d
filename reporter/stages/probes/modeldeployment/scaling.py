"""
Whether keda-kaito-scaler can act on the scaling annotations of an InferenceSet.

With KEDA as a source also whether it did, and whether KEDA can.
"""

from collections.abc import Iterable

from reporter.model.entries import ProbeSpec
from reporter.model.enums import DetailSource, TroubleKind
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS, InferenceSet
from reporter.model.kinds.kaito.workspaces import WORKSPACES
from reporter.model.kinds.keda.horizontal_pod_autoscalers import HORIZONTAL_POD_AUTOSCALERS
from reporter.model.kinds.keda.scaled_objects import SCALED_OBJECTS
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.stages.probes.probe import NoParameters, Probe, ProbeRequest
from reporter.stages.resources.check_result import CheckResult, check_decoded, to_verdict
from reporter.stages.resources.detail import with_detail
from reporter.stages.resources.kaito.inference_sets import find_workspaces, get_inference_set
from reporter.stages.resources.scaling.annotations import (
    AnnotationCode,
    ReplicaLimit,
    find_annotation_problems,
)
from reporter.stages.resources.scaling.autoscaling import (
    AUTOSCALING_CODES,
    find_autoscaling_troubles,
)
from reporter.stages.snapshot.snapshot import Snapshot


MAX_LISTED_PROBLEMS = 3
"""
How many complaints one message tells.
"""


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    yield to_verdict(snapshot, question.key(), _find_troubles(snapshot, question))


def _find_troubles(snapshot: Snapshot, question: ProbeRequest) -> Iterable[CheckResult | None]:
    subject, unwatched = question.subject, question.unwatched
    unread = check_decoded(snapshot, INFERENCE_SETS, subject.namespace, subject.name)
    scaled = get_inference_set(snapshot, subject)
    if unread or scaled is None:
        return [unread]
    nodes = (each.status.target_node_count for each in find_workspaces(snapshot, subject))
    limit = ReplicaLimit(scaled.spec.node_count_limit or 0, max(nodes, default=0))
    wrong = _annotation_trouble(scaled, limit)
    # What the scaler does not take it does not pass on, so that KEDA's state is of older annotations.
    detail = () if wrong is not None else find_autoscaling_troubles(snapshot, scaled, unwatched)
    return with_detail([wrong], detail, unwatched=unwatched.get(SCALED_OBJECTS.resource, ""))


def _annotation_trouble(scaled: InferenceSet, limit: ReplicaLimit) -> Trouble | None:
    meta = scaled.metadata
    wrong = find_annotation_problems(meta.annotations or {}, limit)
    if not wrong:
        return None
    state = "; ".join(each.text for each in wrong[:MAX_LISTED_PROBLEMS])
    more = (
        f"; and {len(wrong) - MAX_LISTED_PROBLEMS} more"
        if len(wrong) > MAX_LISTED_PROBLEMS
        else ""
    )
    return Trouble(
        cause=Cause(
            ObjectRef(INFERENCE_SETS.group_resource, meta.namespace, meta.name), wrong[0].code
        ),
        kind=TroubleKind.DECLARED,
        object_created_at=meta.creation_timestamp,
        message_fields={"state": state + more},
    )


PROBE = Probe(
    ProbeSpec(
        name="scaling",
        parameters_type=NoParameters,
        message_fields=frozenset({"state"}),
        cause_codes=frozenset({*AnnotationCode, *AUTOSCALING_CODES}),
        required_kinds=(INFERENCE_SETS,),
        optional_kinds=(WORKSPACES, NAMESPACES),
        required_crds=lambda _: frozenset({INFERENCE_SETS.group_resource}),
        kinds_by_source={DetailSource.KEDA: (SCALED_OBJECTS, HORIZONTAL_POD_AUTOSCALERS)},
    ),
    evaluate,
)
