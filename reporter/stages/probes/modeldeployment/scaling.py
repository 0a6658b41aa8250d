"""
Whether keda-kaito-scaler can act on the scaling annotations of an InferenceSet.

With KEDA as a source also whether it did, and whether KEDA can.
"""

from collections.abc import Iterable

from reporter.model.entries import ProbeSpec
from reporter.model.kaito_objects import InferenceSet
from reporter.model.kinds import (
    AUTOSCALERS,
    INFERENCE_SETS,
    NAMESPACES,
    SCALED_OBJECTS,
    WORKSPACES,
)
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.model.words import Kind, Source
from reporter.stages.autoscaling import CODES, troubles
from reporter.stages.detail import with_detail
from reporter.stages.models import inference_set, workspaces
from reporter.stages.probes.probe import NoParameters, Probe, Question
from reporter.stages.ruling import Found, ruling, undecoded
from reporter.stages.scaling import Code, Limit, complaints
from reporter.stages.snapshot import Snapshot


TOLD = 3
"""
How many complaints one message tells.
"""


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    yield ruling(snapshot, question.key(), _found(snapshot, question))


def _found(snapshot: Snapshot, question: Question) -> Iterable[Found | None]:
    subject, unwatched = question.subject, question.unwatched
    unread = undecoded(snapshot, INFERENCE_SETS, subject.namespace, subject.name)
    scaled = inference_set(snapshot, subject)
    if unread or scaled is None:
        return [unread]
    nodes = (each.status.target_node_count for each in workspaces(snapshot, subject))
    limit = Limit(scaled.spec.node_count_limit or 0, max(nodes, default=0))
    wrong = _trouble(scaled, limit)
    # What the scaler does not take it does not pass on, so that KEDA's state is of older annotations.
    detail = () if wrong is not None else troubles(snapshot, scaled, unwatched)
    return with_detail([wrong], detail, unwatched=unwatched.get(SCALED_OBJECTS.resource, ""))


def _trouble(scaled: InferenceSet, limit: Limit) -> Trouble | None:
    meta = scaled.metadata
    wrong = complaints(meta.annotations or {}, limit)
    if not wrong:
        return None
    state = "; ".join(each.text for each in wrong[:TOLD])
    more = f"; and {len(wrong) - TOLD} more" if len(wrong) > TOLD else ""
    return Trouble(
        cause=Cause(ObjectRef(INFERENCE_SETS.qualified, meta.namespace, meta.name), wrong[0].code),
        kind=Kind.DECLARED,
        born=meta.creation_timestamp,
        fields={"state": state + more},
    )


PROBE = Probe(
    ProbeSpec(
        name="scaling",
        parameters=NoParameters,
        fields=frozenset({"state"}),
        codes=frozenset({*Code, *CODES}),
        requires=(INFERENCE_SETS,),
        uses=(WORKSPACES, NAMESPACES),
        demands=lambda _: frozenset({INFERENCE_SETS.qualified}),
        sources={Source.KEDA: (SCALED_OBJECTS, AUTOSCALERS)},
    ),
    judge,
)
