"""
Whether the endpoint picker of an InferenceSet works: without it, its InferencePool refuses requests.

Where several elect a leader, only that one is ever Ready, so one suffices (llm-d-router).
"""

from collections.abc import Iterable

from reporter.model.entries import ProbeSpec
from reporter.model.gateway_objects import InferencePool
from reporter.model.kinds import (
    DEPLOYMENTS,
    HTTP_ROUTES,
    INFERENCE_POOLS,
    INFERENCE_SETS,
    NAMESPACES,
    PODS,
)
from reporter.model.objects import Deployment, Pod
from reporter.model.subjects import Subject
from reporter.model.verdicts import Verdict
from reporter.stages.deployments import CODES, absent, reference, trouble
from reporter.stages.indexes import by_model, by_workload
from reporter.stages.models import inference_set, unread
from reporter.stages.probes.probe import NoParameters, Probe, Question
from reporter.stages.routes import pools, routes, staying
from reporter.stages.ruling import Found, ruling, undecoded
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import PICKER_SUFFIX


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    yield ruling(snapshot, question.key(), _found(snapshot, question.subject))


def _found(snapshot: Snapshot, subject: Subject) -> Iterable[Found | None]:
    if inference_set(snapshot, subject) is None:
        return []
    found = staying(
        pools(snapshot, subject, ()) or pools(snapshot, subject, routes(snapshot, subject))
    )
    late = unread(snapshot, INFERENCE_POOLS, subject, found)
    if late:
        return [late]
    named = sorted({each for each in map(_picker, found) if each})
    usual = f"{subject.name}{PICKER_SUFFIX}"
    return [_one(snapshot, subject, name, wanted=bool(named)) for name in named or [usual]]


def _picker(pool: InferencePool) -> str:
    """
    The Service that it asks, which has its Deployment's name; empty for a pool without one.
    """
    picker = pool.spec.endpoint_picker_ref
    return picker.name if picker is not None else ""


def _one(snapshot: Snapshot, subject: Subject, name: str, *, wanted: bool) -> Found | None:
    """
    *wanted*: whether a pool asks it. A set may be deployed without any, to be reached otherwise.
    """
    late = undecoded(snapshot, DEPLOYMENTS, subject.namespace, name)
    if late:
        return late
    found = _deployment(snapshot, subject, name)
    if found is not None:
        return _working(snapshot, found)
    usual = name == f"{subject.name}{PICKER_SUFFIX}"
    seen = reference(subject.namespace, name) in snapshot.gone
    if not wanted or not (usual or seen):
        return None
    return absent(subject.namespace, name, seen=seen)


def _deployment(snapshot: Snapshot, subject: Subject, name: str) -> Deployment | None:
    """
    By name, else the one that the chart labelled: a Service may be named otherwise.
    """
    found = snapshot.get(DEPLOYMENTS, Deployment, subject.namespace, name)
    labelled = snapshot.find(DEPLOYMENTS, Deployment, by_model(subject.namespace, subject.name))
    return found or next(iter(staying(labelled)), None)


def _working(snapshot: Snapshot, picker: Deployment) -> Found | None:
    meta, status = picker.metadata, picker.status
    current = status.observed_generation >= meta.generation
    if picker.desired and current and status.ready_replicas:
        return None
    return trouble(picker, snapshot.find(PODS, Pod, by_workload(meta.namespace, meta.name)))


PROBE = Probe(
    ProbeSpec(
        name="endpoint-picker",
        parameters=NoParameters,
        fields=frozenset({"object", "state", "pods"}),
        codes=CODES,
        requires=(INFERENCE_SETS, INFERENCE_POOLS, DEPLOYMENTS),
        uses=(HTTP_ROUTES, PODS, NAMESPACES),
        demands=lambda _: frozenset({INFERENCE_SETS.qualified, INFERENCE_POOLS.qualified}),
    ),
    judge,
)
