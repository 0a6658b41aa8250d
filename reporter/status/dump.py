"""The status of a dump: a store is filled from it, and everything is unknown that it says nothing about."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from reporter import PROGRAM_NAME
from reporter.catalogue.entries import Catalogue
from reporter.catalogue.silence_file import parse_silence_file
from reporter.catalogue.subject_definitions import SubjectDefinitions
from reporter.controller.watched_kinds import crds_to_track
from reporter.evaluation.evaluation import Evaluation
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.dump import CRDS, Dump, collect, uncovered
from reporter.kube.dump_documents import read_documents
from reporter.kube.stack_dump import DumpedKind, DumpEnd
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, Watching, WatchState
from reporter.model.times import format_time
from reporter.probes.deployments import DeploymentsParameters
from reporter.settings import Settings
from reporter.settings.errors import ConfigurationError
from reporter.snapshot.snapshot import Snapshot
from reporter.status.observations import (
    Observations,
    describe_only_in,
    describe_undecodable,
    make_store,
)
from reporter.status.one_shot import OneShotStatus
from reporter.status.source import StatusAnswer, Target
from reporter.store.store import Store
from reporter.store.watch_states import LOSS_CONFIRMED_AFTER


WRITE_ONE = f"write one with {PROGRAM_NAME} dump > stack.yaml"


def read_dump(path: str, *, now: datetime) -> Dump:
    """
    Read a dump: a file, a folder, or - for standard input. Times after *now* do not count as its newest.

    Raises ConfigurationError if it cannot be read, is empty or was cut off, or if a folder has two dumps.
    """
    dump = collect(read_documents(path), now=now)
    _refuse_cut_off(path, dump)
    return dump


def observe_dump(
    dump: Dump,
    path: str,
    settings: Settings,
    catalogue: Catalogue,
    *,
    now: datetime,
    at: datetime | None = None,
) -> Observations:
    """
    Return the observations of a dump, to be evaluated as of the moment *at*.

    None stands for when it was taken; for a dump that does not say it, for the newest time in it, else
    *now*. *path*: for messages. Raises ConfigurationError if it holds no object that matters.
    """
    store = make_store(settings, catalogue)
    end = dump.end
    if end is not None and end.silences and settings.silence_file is None:
        store.record_silence_file(parse_silence_file(end.silences, Path("silences.yaml")))
    if end is None and not any(dump.has(kind) for kind in store.kinds):
        raise ConfigurationError(_nothing_to_evaluate(path, dump))
    moment = at or (end.taken_at if end is not None else dump.newest) or now
    crds = crds_to_track(catalogue, settings.sources)
    discovered = end.discovery_of(crds) if end else discovery_of(dump, store.kinds, crds)
    for when in (moment - LOSS_CONFIRMED_AFTER, moment):
        store.record_discovery(discovered, now=when)
    notes = [f"{each.source} was not read: {each.why}" for each in dump.problems]
    missing = uncovered(dump, _system_namespaces(settings, catalogue))
    for kind in store.kinds:
        said = end.find(kind) if end is not None else None
        if end is not None and said is not None:
            notes += _store_said(store, dump, kind, end, said)
        else:
            notes += _store_kind(store, dump, kind, missing, catalogue.subject_definitions)
    only_in = _only_in(store.kinds, end)
    notes += [describe_only_in(each) for each in sorted({*only_in.values()})]
    snapshot = replace(store.snapshot(), only_in=only_in)
    return Observations(snapshot, moment, tuple(notes))


def _refuse_cut_off(path: str, dump: Dump) -> None:
    """
    Raise ConfigurationError for a file that is empty or was cut off, and for two dumps in a folder.

    A folder is read without such a file: what is only in it is unknown.
    """
    cut = next((each for each in dump.problems if each.is_cut_off), None)
    if cut is not None and not Path(path).is_dir():
        raise ConfigurationError(f"{cut.source}: {cut.why}; {WRITE_ONE}")
    if len(dump.ends) > 1:
        raise ConfigurationError(f"{path}: {len(dump.ends)} dumps are in it; name the file of one")


def _store_said(
    store: Store, dump: Dump, kind: ResourceKind, end: DumpEnd, said: DumpedKind
) -> list[str]:
    """Store a kind as the end of the dump says that it was read, and return notes about it."""
    namespaced = end.namespaced.get(kind.group_resource)
    why = said.unread or kind.why_misdeclared(namespaced=namespaced) or dump.why_unreadable(kind)
    if not why and dump.counts[kind.group, kind.kind] < said.objects:
        why = f"{dump.counts[kind.group, kind.kind]} of {said.objects} objects are in the dump"
    if said.not_served:
        store.set_watch_state(kind, NotServed())
        return []
    if why:
        store.set_watch_state(kind, NotSynced(why, refused=True))
        return [f"{kind.group_resource}: {why}"]
    store.set_watch_state(kind, Watching())
    result = dump.decode(kind)
    store.replace(kind, result.objects, {each.name: each.stub for each in result.undecodable})
    return describe_undecodable(kind, result.undecodable)


def _only_in(kinds: Iterable[ResourceKind], end: DumpEnd | None) -> Mapping[str, str]:
    """Return the namespace of each kind of which the dump has the objects of one namespace alone."""
    found = ((kind, end.find(kind)) for kind in kinds) if end is not None else ()
    return {kind.table: said.only_in for kind, said in found if said is not None and said.only_in}


def discovery_of(
    dump: Dump, kinds: Iterable[ResourceKind], crds: Iterable[str]
) -> DiscoveryResult:
    """
    Return what discovery would have answered: by the CRDs of the dump, or without them by its objects.

    The group of a CRD of *crds* that neither shows counts as failed: its kinds are unknown, not missing.
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
    return f"{path}: {dump.size} objects, none of a kind that is evaluated{first}; {WRITE_ONE}"


# --------------------------------------------------------------------
# The source of the status.


Load = Callable[[DumpEnd | None], tuple[Settings, Catalogue]]
"""Loads the configuration, with flags of the reporter in a dump that yield to those that are given."""


class DumpSource:
    """Reads a dump. *at*: the moment to evaluate; None is when it was taken."""

    may_lag = False

    def __init__(
        self,
        path: str,
        load: Load,
        *,
        now: Callable[[], datetime],
        at: datetime | None = None,
    ) -> None:
        self.description = f"the dump {path}"
        self._path, self._load = path, load
        self._now, self._at = now, at

    async def ask(self, target: Target, *, after: StatusAnswer | None = None) -> StatusAnswer:
        """
        Read and evaluate the dump anew; *after* is of no account, as a dump does not change.

        The first note of the answer names the moment of the evaluation. Raises ConfigurationError for a
        dump that cannot be read, or holds no object that matters.
        """
        observations, status = self._observe(target)
        return status.answer(observations, target)

    async def evaluate(self, target: Target) -> tuple[Evaluation, Sequence[str]]:
        """Read the dump as *ask* does, and return its evaluation and the notes."""
        observations, status = self._observe(target)
        return status.evaluate(observations), observations.notes

    def _observe(self, target: Target) -> tuple[Observations, OneShotStatus]:
        now = self._now()
        dump = read_dump(self._path, now=now)
        settings, catalogue = self._load(dump.end)
        observations = observe_dump(dump, self._path, settings, catalogue, now=now, at=self._at)
        _refuse_other_namespace(self.description, observations.snapshot, target)
        as_of = f"evaluated as of {format_time(observations.at)}"
        observations = replace(observations, notes=(as_of, *observations.notes))
        return observations, OneShotStatus(settings, catalogue)

    async def close(self) -> None:
        """Do nothing: a dump is opened and closed by each question."""


def _refuse_other_namespace(dump: str, snapshot: Snapshot, target: Target) -> None:
    """Raise ConfigurationError if a dump was taken with the rights of another namespace alone."""
    only = frozenset(snapshot.only_in.values())
    if only and target.namespace and target.namespace not in only:
        raise ConfigurationError(
            f"{dump} has the namespace {', '.join(sorted(only))} alone, and says nothing about {target}"
        )
