"""Read a cluster once: one discovery and one list a kind."""

import asyncio
from collections.abc import Callable

from reporter.kube.client import RestClient
from reporter.kube.errors import KubeError, Unserved
from reporter.kube.lister import list_all
from reporter.kube.watch_context import WatchTiming
from reporter.kube.watch_health import describe_error
from reporter.model.catalogue.entries import Catalogue
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, Watching, WatchState
from reporter.runtime.inputs.permissions import crds_to_track
from reporter.runtime.oneshot.confirmed_discovery import confirm_discovery
from reporter.runtime.oneshot.source import Observations, describe_undecodable, make_store
from reporter.runtime.process.clock import Clock
from reporter.settings import Settings
from reporter.stages.probes.specs import SPECS
from reporter.stages.store.store import Store


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
