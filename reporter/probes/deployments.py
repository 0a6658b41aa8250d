"""Probe for the Deployments of one control-plane component."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES, NODES, PODS, Namespace
from reporter.model.verdicts import Active, Clear, Trouble, Unknown, Verdict
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest
from reporter.resources import check_result
from reporter.resources.check_result import Inconclusive
from reporter.resources.components import (
    ComponentSpec,
    LocatedDeployment,
    locate_component,
    locate_revisions,
    why_switched_off,
)
from reporter.resources.deployments import (
    DEPLOYMENT_CODES,
    check_deployment,
    missing_deployment_trouble,
)
from reporter.snapshot.snapshot import Snapshot


class DeploymentsParameters(ProbeParameters, frozen=True):
    """
    The Deployments of one control-plane component.

    *components*: all of them must work. *revisions*: of each, one working revision suffices.
    """

    components: tuple[ComponentSpec, ...]
    revisions: bool = False


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """
    Yield the one verdict on all components that the entry's parameters name.

    Trouble of one component counts although another cannot be evaluated. Components that a flag switches
    off are left out.
    """
    troubles: list[Trouble] = []
    notes: list[str] = []
    inconclusive: list[Inconclusive] = []
    locate = locate_revisions if request.parameters.revisions else locate_component
    for component in request.parameters.components:
        located = locate(snapshot, component, request.flags)
        if located is None:
            continue
        notes += [located.note] if located.note else []
        result = _evaluate_component(snapshot, component, located)
        if isinstance(result, Inconclusive):
            # Every object that may be the cause of the component's trouble.
            places = [
                (each.metadata.namespace, each.metadata.name) for each in located.deployments
            ]
            refs = [DEPLOYMENTS.ref(*at) for at in ((located.namespace, located.name), *places)]
            inconclusive.append(replace(result, objects=frozenset(refs)))
        else:
            troubles += result
    why = inconclusive[0].why if inconclusive else ""
    if not troubles:
        yield Unknown(request.key(), why) if why else Clear(request.key(), tuple(notes))
        return
    involved = check_result.involved_namespace(snapshot, troubles[0].cause.object.namespace)
    notes += check_result.partial_notes(why)
    open_ = check_result.open_objects(inconclusive)
    yield Active(request.key(), tuple(troubles), involved, tuple(notes), why, open_)


def _evaluate_component(
    snapshot: Snapshot, component: ComponentSpec, located: LocatedDeployment
) -> Sequence[Trouble] | Inconclusive:
    """
    Return the troubles of a component.

    Of several revisions one that works suffices, and one that still serves makes it no outage.
    """
    if not located.deployments:
        return _evaluate_missing(snapshot, component, located)
    results = [check_deployment(snapshot, deployment) for deployment in located.deployments]
    if len(results) > 1 and None in results:
        return ()
    troubles = [result for result in results if isinstance(result, Trouble)]
    degraded = [trouble for trouble in troubles if not trouble.is_out]
    inconclusive = next((r for r in results if isinstance(r, Inconclusive)), None)
    return degraded or inconclusive or troubles


def _evaluate_missing(
    snapshot: Snapshot, component: ComponentSpec, located: LocatedDeployment
) -> Sequence[Trouble] | Inconclusive:
    """
    Return the trouble of a missing Deployment, unless it is optional or its absence is not certain.
    """
    if component.optional:
        return ()
    namespace, name = located.namespace, located.name
    undecodable = check_result.check_decoded(snapshot, DEPLOYMENTS, namespace, name)
    if undecodable is not None:
        return undecodable
    if component.absent_with_namespace and not located.was_deleted:
        not_listed = snapshot.why_not_synced(NAMESPACES)
        if not_listed:
            return Inconclusive(not_listed)
        if snapshot.get(NAMESPACES, Namespace, "", namespace) is None:
            return ()
    return (
        missing_deployment_trouble(
            namespace, name, was_deleted=located.was_deleted, hint=located.hint
        ),
    )


PROBE = Probe(
    ProbeSpec(
        name="deployments",
        parameters_type=DeploymentsParameters,
        message_fields=frozenset({"object", "state", "pods"}),
        cause_codes=DEPLOYMENT_CODES,
        why_no_check=lambda parameters, flags: why_switched_off(parameters.components, flags),
        required_kinds=(DEPLOYMENTS,),
        consulted_kinds=(NAMESPACES,),
        optional_kinds=(PODS, NODES),
    ),
    evaluate,
)
