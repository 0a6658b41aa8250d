"""
Whether every replica of an InferenceSet has model pods that serve.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reporter.model.entries import ProbeSpec
from reporter.model.kaito_objects import InferenceSet
from reporter.model.kinds import INFERENCE_SETS, NAMESPACES, PODS, WORKSPACES
from reporter.model.objects import condition
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.model.words import Kind
from reporter.stages.conditions import since, stale
from reporter.stages.models import inference_set, model_pods, of_workspace, unread, workspaces
from reporter.stages.probes.probe import NoParameters, Probe, Question
from reporter.stages.ruling import Found, ruling, undecoded
from reporter.stages.snapshot import Snapshot
from reporter.stages.workspaces import OF_PODS, Model, trouble


FAILED = "inferencesetFailed"
"""
KAITO could not act on the InferenceSet; its next try overwrites it.
"""


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    yield ruling(snapshot, question.key(), _found(snapshot, question.subject))


def _found(snapshot: Snapshot, subject: Subject) -> Iterable[Found | None]:
    wanted = inference_set(snapshot, subject)
    late = undecoded(snapshot, INFERENCE_SETS, subject.namespace, subject.name)
    if late or wanted is None:
        return [late]
    pods, replicas = model_pods(snapshot, subject), workspaces(snapshot, subject)
    late = unread(snapshot, WORKSPACES, subject, replicas) or unread(snapshot, PODS, subject, pods)
    if late:
        return [late]
    models = [Model(each, of_workspace(pods, each)) for each in replicas]
    failing = [model for model in models if not model.serves]
    spare = len(models) - len(failing) >= wanted.desired
    found = [trouble(replace(model, spare=spare)) for model in failing]
    return [*found, _too_few(wanted, models)]


def _too_few(wanted: InferenceSet, models: Sequence[Model]) -> Found | None:
    """
    KAITO makes a Workspace for each replica, within seconds; a set that scales up lacks some.
    """
    if len(models) >= wanted.desired:
        return None
    meta = wanted.metadata
    ready = condition(wanted.status.conditions, "InferenceSetReady")
    failed = ready is not None and ready.status == "False" and ready.reason == FAILED
    if failed and ready is not None and (late := stale(ready, meta, f"InferenceSet {meta.name}")):
        return late
    made = f"has made {len(models)}/{wanted.desired} Workspaces"
    return Trouble(
        cause=Cause(ObjectRef(INFERENCE_SETS.qualified, meta.namespace, meta.name), "NoWorkspace"),
        kind=Kind.FAILED if failed else Kind.STARTING,
        out=not models,
        born=meta.creation_timestamp,
        since=since(ready, meta) if ready is not None and ready.status == "False" else None,
        fields={"object": "KAITO", "state": made, "pods": ""},
        foreign=(ready.message or "") if failed and ready is not None else "",
    )


PROBE = Probe(
    ProbeSpec(
        name="model-pods",
        parameters=NoParameters,
        fields=frozenset({"object", "state", "pods"}),
        codes=frozenset(
            {*OF_PODS.values(), "NotReady", "Lost", "Workspace", "NoWorkspace", "Missing"}
        ),
        requires=(INFERENCE_SETS, WORKSPACES, PODS),
        uses=(NAMESPACES,),
        demands=lambda _: frozenset({INFERENCE_SETS.qualified, WORKSPACES.qualified}),
        pauses=True,
    ),
    judge,
)
