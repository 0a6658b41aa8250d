"""
Whether the Deployments of one component of the control plane do their work.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.kinds.base.keys import workload_key
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.verdicts import (
    Active,
    Clear,
    InvolvedObject,
    ObjectRef,
    Trouble,
    Unknown,
    Verdict,
)
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.workloads.components import (
    ComponentSpec,
    LocatedDeployment,
    locate_component,
    locate_revisions,
)
from reporter.stages.resources.workloads.deployments import (
    DEPLOYMENT_CODES,
    Inconclusive,
    deployment_ref,
    evaluate_deployment,
    missing_deployment_trouble,
)
from reporter.stages.snapshot.snapshot import Snapshot


class DeploymentsParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *components*: all must work. *revisions*: of each, any one that works suffices.
    """

    components: tuple[ComponentSpec, ...]
    revisions: bool = False


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    troubles: list[Trouble] = []
    notes: list[str] = []
    for component in question.parameters.components:
        find = locate_revisions if question.parameters.revisions else locate_component
        located = find(snapshot, component, question.flags)
        if located is None:
            continue
        notes += [located.note] if located.note else []
        read = _evaluate_component(snapshot, component, located)
        if isinstance(read, Inconclusive):
            yield Unknown(question.key(), read.why)
            return
        troubles += read
    if not troubles:
        yield Clear(question.key(), tuple(notes))
        return
    namespace = troubles[0].cause.object.namespace
    yield Active(
        question.key(), tuple(troubles), _involved_namespace(snapshot, namespace), tuple(notes)
    )


def _evaluate_component(
    snapshot: Snapshot, component: ComponentSpec, located: LocatedDeployment
) -> Sequence[Trouble] | Inconclusive:
    if not located.deployments:
        return _missing_trouble(snapshot, component, located)
    readings = [_evaluate_one(snapshot, deployment) for deployment in located.deployments]
    if len(readings) > 1 and None in readings:
        return ()
    troubles = [r for r in readings if isinstance(r, Trouble)]
    serving = [t for t in troubles if not t.is_out]
    stale = next((r for r in readings if isinstance(r, Inconclusive)), None)
    return serving or stale or troubles


def _missing_trouble(
    snapshot: Snapshot, component: ComponentSpec, located: LocatedDeployment
) -> Sequence[Trouble] | Inconclusive:
    """
    What is missing, unless it need not be there or may be there unseen.
    """
    if component.optional:
        return ()
    if deployment_ref(located.namespace, located.name) in snapshot.undecodable:
        return Inconclusive(f"Deployment {located.namespace}/{located.name} could not be decoded")
    if component.absent_with_namespace and not located.seen:
        unlisted = snapshot.why_not_synced(NAMESPACES)
        if unlisted:
            return Inconclusive(unlisted)
        if snapshot.get(NAMESPACES, Namespace, "", located.namespace) is None:
            return ()
    return (
        missing_deployment_trouble(
            located.namespace, located.name, seen=located.seen, hint=located.hint
        ),
    )


def _evaluate_one(snapshot: Snapshot, deployment: Deployment) -> Trouble | Inconclusive | None:
    meta = deployment.metadata
    if deployment_ref(meta.namespace, meta.name) in snapshot.undecodable:
        return Inconclusive(f"Deployment {meta.namespace}/{meta.name} could not be decoded")
    key = workload_key(meta.namespace, meta.name)
    return evaluate_deployment(deployment, snapshot.by_index(PODS, Pod, key))


def _involved_namespace(snapshot: Snapshot, namespace: str) -> InvolvedObject:
    found = snapshot.get(NAMESPACES, Namespace, "", namespace)
    gone = snapshot.deleted_uids.get(ObjectRef(NAMESPACES.group_resource, "", namespace), "")
    return InvolvedObject("v1", "Namespace", namespace, found.metadata.uid if found else gone)


PROBE = Probe(
    ProbeSpec(
        name="deployments",
        parameters_type=DeploymentsParameters,
        message_fields=frozenset({"object", "state", "pods"}),
        cause_codes=DEPLOYMENT_CODES,
        required_kinds=(DEPLOYMENTS,),
        optional_kinds=(PODS, NAMESPACES),
    ),
    evaluate,
)
