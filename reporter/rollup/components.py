"""The Deployments of the control plane and their progress."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from reporter.catalogue.entries import CatalogueEntry
from reporter.evaluation.clocks import CauseClock
from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.model.enums import Layer
from reporter.model.states import State
from reporter.model.status_document import ComponentStatus, Replicas
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey
from reporter.model.verdicts import ObjectRef
from reporter.probes.deployments import DeploymentsParameters
from reporter.resources.components import locate_component, locate_revisions
from reporter.resources.conditions import is_deleting
from reporter.rollup.rules import RollUpInput, RollUpRules


def list_components(given: RollUpInput, rules: RollUpRules) -> tuple[ComponentStatus, ...]:
    """
    Return the Deployments of the control plane that reasons check; none if Deployments are not read.
    """
    if DEPLOYMENTS.resource not in given.snapshot.tables:
        return ()
    entries = rules.catalogue.evaluated_entries(Layer.CLUSTER)
    return tuple(each for entry in entries for each in _components_of(entry, given, rules))


def _components_of(
    entry: CatalogueEntry, given: RollUpInput, rules: RollUpRules
) -> Iterator[ComponentStatus]:
    parameters = entry.parameters
    if not isinstance(parameters, DeploymentsParameters):
        return
    key = FindingKey(CLUSTER_SUBJECT, entry.reason)
    states = _states_of_finding(key, given)
    unknown = _is_unknown(key, given)
    is_unread = bool(given.snapshot.why_unknown(DEPLOYMENTS, now=given.now))
    locate = locate_revisions if parameters.revisions else locate_component
    for component in parameters.components:
        located = locate(given.snapshot, component, rules.flags)
        if located is None:
            continue
        for deployment in located.deployments:
            meta = deployment.metadata
            ref = DEPLOYMENTS.ref(meta.namespace, meta.name)
            # Beside trouble of another component, one that cannot be decoded makes no key Unknown.
            is_undecodable = ref in given.snapshot.undecodable
            state = State.UNKNOWN if unknown or is_undecodable else states.get(ref)
            found = _component(entry, deployment, state)
            yield replace(found, replicas=None) if is_unread or is_undecodable else found
        missing = states.get(DEPLOYMENTS.ref(located.namespace, located.name))
        if not located.deployments and (missing is not None or unknown):
            yield ComponentStatus(
                namespace=located.namespace,
                name=located.name,
                reason=entry.reason,
                state=State.UNKNOWN if unknown else missing or State.FAILED,
            )


def _states_of_finding(key: FindingKey, given: RollUpInput) -> Mapping[ObjectRef, State]:
    """Return the state of each Deployment that the reason's finding is about."""
    state = given.evaluation.tracked.finding_states.get(key)
    if state is None:
        return {}
    return {clock.object: _state_of_clock(clock) for clock in state.clocks}


def _state_of_clock(clock: CauseClock) -> State:
    if clock.stopped:
        return State.UNKNOWN
    return State.FAILED if clock.active and clock.past_hold else State.IN_PROGRESS


def _is_unknown(key: FindingKey, given: RollUpInput) -> bool:
    tracked = given.evaluation.tracked
    state = tracked.finding_states.get(key)
    return key in tracked.unknown_states or (state is not None and bool(state.why_unknown))


def _component(
    entry: CatalogueEntry, deployment: Deployment, stated: State | None
) -> ComponentStatus:
    meta, status, desired = deployment.metadata, deployment.status, deployment.desired_replicas
    replicas = Replicas(
        desired=desired, updated=status.updated_replicas, ready=status.ready_replicas
    )
    behind = (
        status.observed_generation < meta.generation
        or status.updated_replicas < desired
        or status.ready_replicas < desired
    )
    if is_deleting(deployment):
        state = State.TERMINATING
    else:
        state = stated or (State.IN_PROGRESS if behind else State.CURRENT)
    return ComponentStatus(
        namespace=meta.namespace,
        name=meta.name,
        reason=entry.reason,
        state=state,
        replicas=replicas,
        observed_generation=status.observed_generation or None,
        generation=meta.generation or None,
    )
