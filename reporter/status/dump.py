"""Fill a store from a dump, and let everything be unknown that the dump says nothing about."""

from collections.abc import Iterable
from datetime import datetime

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.subject_definitions import SubjectDefinitions
from reporter.controller.permissions import crds_to_track
from reporter.evaluation.registry import SPECS
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.dump import CRDS, Dump, collect, read_documents, uncovered
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, Watching, WatchState
from reporter.probes.deployments import DeploymentsParameters
from reporter.settings import Settings
from reporter.settings.errors import ConfigurationError
from reporter.status.one_shot_cluster import Observations, describe_undecodable, make_store
from reporter.store.store import Store
from reporter.store.watch_states import LOSS_CONFIRMED_AFTER


def read_dump(
    path: str,
    settings: Settings,
    catalogue: Catalogue,
    *,
    now: datetime,
    at: datetime | None = None,
) -> Observations:
    """
    Read a dump, as it was *at* that time; None is the newest time in it that is not after *now*.

    Raises ConfigurationError if the dump cannot be read or holds no object that matters.
    """
    dump = collect(read_documents(path), now=now)
    store = make_store(settings, catalogue)
    if not any(dump.has(kind) for kind in store.kinds):
        raise ConfigurationError(_nothing_to_evaluate(path, dump))
    moment = at or dump.newest or now
    crds = crds_to_track(catalogue, SPECS, settings.sources)
    discovered = discovery_of(dump, store.kinds, crds)
    for when in (moment - LOSS_CONFIRMED_AFTER, moment):
        store.record_discovery(discovered, now=when)
    notes = [f"{each.source} was not read: {each.why}" for each in dump.problems]
    missing = uncovered(dump, _system_namespaces(settings, catalogue))
    for kind in store.kinds:
        notes += _store_kind(store, dump, kind, missing, catalogue.subject_definitions)
    return Observations(store.snapshot(), moment, tuple(notes))


def discovery_of(
    dump: Dump, kinds: Iterable[ResourceKind], crds: Iterable[str]
) -> DiscoveryResult:
    """
    Return what discovery would have answered: by the CRDs of the dump, or without them by its objects.

    What neither shows is in a group that failed: it is unknown.
    """
    served = {**dump.served_versions()}
    for kind in kinds:
        if dump.has(kind) and kind.group_resource not in served:
            served[kind.group_resource] = kind.versions[:1] or dump.versions_of(kind)
    unknown = () if CRDS in dump.listed else (crd for crd in crds if crd not in served)
    failed = frozenset(crd.partition(".")[2] for crd in unknown)
    return DiscoveryResult(served, failed, dump.scopes())


def _store_kind(
    store: Store,
    dump: Dump,
    kind: ResourceKind,
    missing: frozenset[str],
    rules: SubjectDefinitions,
) -> list[str]:
    """Store the objects of a kind with its state, and return notes about what is not known."""
    state = _state_of(dump, kind, missing)
    store.set_watch_state(kind, state)
    if isinstance(state, NotSynced):
        return [f"{kind.group_resource}: {state.why}"]
    result = dump.decode(kind)
    objects, notes = result.objects, describe_undecodable(kind, result.undecodable)
    if kind == NAMESPACES:
        is_workload = rules.is_workload_namespace
        absent = uncovered(dump, [o.metadata.name for o in objects if is_workload(o)])
        objects = tuple(o for o in objects if o.metadata.name not in absent)
        notes += [f"namespace {each}: nothing of it is in the dump" for each in sorted(absent)]
    store.replace(kind, objects, {each.name: each.stub for each in result.undecodable})
    return notes


def _state_of(dump: Dump, kind: ResourceKind, missing: frozenset[str]) -> WatchState:
    if dump.is_uninstalled(kind):
        return NotServed()
    why = dump.why_absent(kind)
    only = [kind.namespace] if kind.namespace else []
    absent = missing if kind == DEPLOYMENTS else uncovered(dump, only)
    if absent and not why:
        why = f"the dump has nothing of namespace {', '.join(sorted(absent))}"
    return NotSynced(why, refused=True) if why else Watching()


def _system_namespaces(settings: Settings, catalogue: Catalogue) -> frozenset[str]:
    """Return the namespaces in which a Deployment of the control plane is expected."""
    return frozenset(
        settings.flag_texts[component.namespace_flag]
        for entry in catalogue.entries.values()
        if entry.is_evaluated and isinstance(entry.parameters, DeploymentsParameters)
        for component in entry.parameters.components
        if settings.flag_texts[component.namespace_flag]
    )


def _nothing_to_evaluate(path: str, dump: Dump) -> str:
    first = f"; {dump.problems[0].source}: {dump.problems[0].why}" if dump.problems else ""
    return (
        f"{path}: {dump.size} objects, none of a kind that is evaluated{first}; write a dump with"
        " kubectl get namespaces,deployments,pods,inferencesets.kaito.sh,… --all-namespaces"
        " --output=yaml (status --help has the whole command)"
    )
