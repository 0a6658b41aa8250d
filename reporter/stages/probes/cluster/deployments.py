"""
Whether the Deployments of one component of the control plane do their work.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.kinds import DEPLOYMENTS, NAMESPACES, PODS
from reporter.model.objects import Deployment, Namespace, Pod
from reporter.model.verdicts import Active, Clear, Involved, ObjectRef, Trouble, Unknown, Verdict
from reporter.stages.components import Component, Located, locate, revisions
from reporter.stages.deployments import CODES, Stale, absent, reference, trouble
from reporter.stages.indexes import by_workload
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.snapshot import Snapshot


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *components*: all must work. *revisions*: of each, any one that works suffices.
    """

    components: tuple[Component, ...]
    revisions: bool = False


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    troubles: list[Trouble] = []
    notes: list[str] = []
    for component in question.parameters.components:
        find = revisions if question.parameters.revisions else locate
        located = find(snapshot, component, question.flags)
        if located is None:
            continue
        notes += [located.note] if located.note else []
        read = _read(snapshot, component, located)
        if isinstance(read, Stale):
            yield Unknown(question.key(), read.why)
            return
        troubles += read
    if not troubles:
        yield Clear(question.key(), tuple(notes))
        return
    namespace = troubles[0].cause.object.namespace
    yield Active(question.key(), tuple(troubles), _involved(snapshot, namespace), tuple(notes))


def _read(snapshot: Snapshot, component: Component, located: Located) -> Sequence[Trouble] | Stale:
    if not located.found:
        return _absent(snapshot, component, located)
    readings = [_one(snapshot, deployment) for deployment in located.found]
    if len(readings) > 1 and None in readings:
        return ()
    troubles = [r for r in readings if isinstance(r, Trouble)]
    serving = [t for t in troubles if not t.out]
    stale = next((r for r in readings if isinstance(r, Stale)), None)
    return serving or stale or troubles


def _absent(
    snapshot: Snapshot, component: Component, located: Located
) -> Sequence[Trouble] | Stale:
    """
    What is missing, unless it need not be there or may be there unseen.
    """
    if component.optional:
        return ()
    if reference(located.namespace, located.name) in snapshot.spoilt:
        return Stale(f"Deployment {located.namespace}/{located.name} could not be decoded")
    if component.absent_with_namespace and not located.seen:
        unlisted = snapshot.unlisted(NAMESPACES)
        if unlisted:
            return Stale(unlisted)
        if snapshot.get(NAMESPACES, Namespace, "", located.namespace) is None:
            return ()
    return (absent(located.namespace, located.name, seen=located.seen, hint=located.hint),)


def _one(snapshot: Snapshot, deployment: Deployment) -> Trouble | Stale | None:
    meta = deployment.metadata
    if reference(meta.namespace, meta.name) in snapshot.spoilt:
        return Stale(f"Deployment {meta.namespace}/{meta.name} could not be decoded")
    key = by_workload(meta.namespace, meta.name)
    return trouble(deployment, snapshot.find(PODS, Pod, key))


def _involved(snapshot: Snapshot, namespace: str) -> Involved:
    found = snapshot.get(NAMESPACES, Namespace, "", namespace)
    gone = snapshot.gone.get(ObjectRef(NAMESPACES.qualified, "", namespace), "")
    return Involved("v1", "Namespace", namespace, found.metadata.uid if found else gone)


PROBE = Probe(
    ProbeSpec(
        name="deployments",
        parameters=Parameters,
        fields=frozenset({"object", "state", "pods"}),
        codes=CODES,
        requires=(DEPLOYMENTS,),
        uses=(PODS, NAMESPACES),
    ),
    judge,
)
