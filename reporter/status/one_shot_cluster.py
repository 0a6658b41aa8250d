"""Read a cluster once: one discovery and one list a kind."""

import asyncio
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta

from msgspec import Struct

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.silence_file import read_silence_file
from reporter.controller import scrape_config
from reporter.controller.evaluation_settings import make_evaluation_settings
from reporter.controller.permissions import crds_to_track, kinds_to_watch
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.probe_fault_log import ProbeFaultLog
from reporter.evaluation.registry import PROBES, SPECS
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.client import RestClient
from reporter.kube.discovery import discover
from reporter.kube.errors import KubeError, Unserved
from reporter.kube.lister import list_all
from reporter.kube.watch_context import WatchTiming
from reporter.kube.watch_events import UndecodableObject
from reporter.kube.watch_health import describe_error
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, Watching, WatchState
from reporter.process.clock import Clock
from reporter.settings import Settings
from reporter.snapshot.snapshot import Snapshot
from reporter.store.samples import SampleStore
from reporter.store.store import Store
from reporter.store.watch_states import LOSS_CONFIRMED_AFTER


# --------------------------------------------------------------------
# The observations of one moment, and their evaluation.


class Observations(Struct, frozen=True):
    """A cluster at one moment. *notes*: what was not read and why, for the user."""

    snapshot: Snapshot
    at: datetime
    notes: tuple[str, ...] = ()


def make_store(settings: Settings, catalogue: Catalogue) -> Store:
    """Make an empty store for what the evaluated reasons read."""
    store = Store(
        kinds_to_watch(catalogue, SPECS, settings.sources),
        crds_to_track(catalogue, SPECS, settings.sources),
        SampleStore(scrape_config.find_scrapes(catalogue, SPECS, settings.flag_texts)),
        subjects=catalogue.subject_definitions,
    )
    if settings.silence_file is not None:
        store.record_silence_file(read_silence_file(settings.silence_file))
    return store


def describe_undecodable(
    kind: ResourceKind, undecodable: Iterable[UndecodableObject]
) -> list[str]:
    """Describe the objects of a list that could not be decoded, for *notes*."""
    return [
        f"{kind.group_resource} {'/'.join(filter(None, each.name))} cannot be decoded: {each.why}"
        for each in undecodable
    ]


def make_evaluator(settings: Settings, catalogue: Catalogue) -> Evaluator:
    """Return an evaluator of the built-in probes, which logs their faults instead of raising them."""
    return Evaluator(
        catalogue,
        PROBES,
        settings.flag_texts,
        make_evaluation_settings(settings),
        ProbeFaultLog().log,
    )


# --------------------------------------------------------------------
# Discover the resources so that the store believes it at once.


RECHECK_AFTER = timedelta(seconds=1)
"""The pause until the second discovery, if the first one lacks a resource."""


async def confirm_discovery(
    api: RestClient, store: Store, crds: Collection[str], clock: Clock
) -> DiscoveryResult:
    """
    Discover the resources, twice if some are missing: an API server that starts lacks some.

    The store believes two results that are LOSS_CONFIRMED_AFTER apart. Nobody who waits for an
    answer has that much time, so the first one is recorded as that much older than it is.
    """
    groups = frozenset(crd.partition(".")[2] for crd in crds)
    found = (await discover(api, groups, previous=None)).discovery
    store.record_discovery(found, now=clock.now() - LOSS_CONFIRMED_AFTER)
    if set(crds) - found.served_versions.keys():
        await asyncio.sleep(RECHECK_AFTER.total_seconds())
        found = (await discover(api, groups, previous=None)).discovery
        store.record_discovery(found, now=clock.now())
    return found


LISTS_AT_ONCE = 4
"""
Number of lists at once: an API server hardly notices them, and small lists do not wait for large ones.
"""

Progress = Callable[[int, int], None]
"""Called with the number of kinds that were read, and of all kinds."""


async def read_cluster(
    api: RestClient,
    settings: Settings,
    catalogue: Catalogue,
    clock: Clock,
    *,
    on_progress: Progress = lambda _, __: None,
    timing: WatchTiming | None = None,
) -> Observations:
    """
    Read all kinds of which there is a reason. Kinds that cannot be read are unknown, in *notes*.

    Raises KubeError if discovery fails, or if no kind at all could be read.
    """
    reading = _Reading(api, make_store(settings, catalogue), timing or WatchTiming(), on_progress)
    crds = crds_to_track(catalogue, SPECS, settings.sources)
    found = await confirm_discovery(api, reading.store, crds, clock)
    await reading.list_all(found)
    return Observations(reading.store.snapshot(), clock.now(), tuple(sorted(reading.notes)))


class _Reading:
    def __init__(
        self, api: RestClient, store: Store, timing: WatchTiming, on_progress: Progress
    ) -> None:
        self.store = store
        self.notes: list[str] = []
        self._api, self._timing, self._on_progress = api, timing, on_progress
        self._slots = asyncio.Semaphore(LISTS_AT_ONCE)
        self._done = 0

    async def list_all(self, found: DiscoveryResult) -> None:
        async with asyncio.TaskGroup() as group:
            lists = [group.create_task(self._list(kind, found)) for kind in self.store.kinds]
        failed = [error for each in lists if (error := each.result()) is not None]
        if failed and not any(isinstance(each, Watching) for each in self.store.watch_states):
            raise failed[0]

    async def _list(self, kind: ResourceKind, found: DiscoveryResult) -> KubeError | None:
        """List one kind into the store, and return the error if that was not possible."""
        async with self._slots:
            state, error = await self._list_and_store(kind, found)
        self.store.set_watch_state(kind, state)
        if isinstance(state, NotSynced):
            self.notes.append(f"{kind.group_resource}: {state.why}")
        self._done += 1
        self._on_progress(self._done, len(self.store.kinds))
        return error

    async def _list_and_store(
        self, kind: ResourceKind, found: DiscoveryResult
    ) -> tuple[WatchState, KubeError | None]:
        version = self.store.served_version(kind)
        if why := kind.why_misdeclared(namespaced=found.namespaced.get(kind.group_resource)):
            return NotSynced(why, refused=True), None
        if version is None:
            if kind.group in found.failed_groups:
                return NotSynced("its API group could not be discovered", refused=True), None
            return NotServed(), None
        try:
            result = await list_all(
                self._api, kind, version, page_timeout=self._timing.list_timeout
            )
        except Unserved:
            return NotServed(), None
        except KubeError as err:
            return NotSynced(describe_error(err), refused=True), err
        unread = {each.name: each.stub for each in result.undecodable}
        for _ in self.store.replace_in_batches(kind, result.objects, unread):
            await asyncio.sleep(0)
        self.notes += describe_undecodable(kind, result.undecodable)
        return Watching(), None
