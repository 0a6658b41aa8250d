"""Read a cluster once: one discovery and one list a kind."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue
from reporter.controller.watched_kinds import crds_to_track
from reporter.evaluation.evaluation import Evaluation
from reporter.kinds.core import NAMESPACES
from reporter.kinds.objects import json_field, json_items
from reporter.kinds.productionstack import PRODUCTION_STACK_STATUSES, ProductionStackStatus
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.client import RestClient
from reporter.kube.discovery import discover
from reporter.kube.errors import KubeError, Unserved
from reporter.kube.lister import ListResult, get_one, list_all
from reporter.kube.watch_context import WatchTiming
from reporter.kube.watch_health import describe_error
from reporter.model.object_status import AVAILABLE
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, Watching, WatchState
from reporter.model.silences import SilenceFile
from reporter.model.times import parse_zoned_time
from reporter.process.clock import Clock
from reporter.rollup.desired import EXPIRATION_TIME
from reporter.settings import Settings
from reporter.status.namespace_limit import read_in_all_or_one
from reporter.status.observations import (
    Observations,
    describe_only_in,
    describe_undecodable,
    make_store,
)
from reporter.status.one_shot import OneShotStatus, cannot_read_after
from reporter.status.source import StatusAnswer, Target
from reporter.store.store import Store
from reporter.store.watch_states import LOSS_CONFIRMED_AFTER


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
    first, found = await discover_twice(api, crds)
    store.record_discovery(first, now=clock.now() - LOSS_CONFIRMED_AFTER)
    if found is not first:
        store.record_discovery(found, now=clock.now())
    return found


async def discover_twice(
    api: RestClient, crds: Collection[str]
) -> tuple[DiscoveryResult, DiscoveryResult]:
    """
    Return the first result of discovery and the last: a second one, if the first lacks some of *crds*.

    Otherwise both are the same object. Raises KubeError.
    """
    groups = frozenset(crd.partition(".")[2] for crd in crds)
    first = (await discover(api, groups, previous=None)).discovery
    if not set(crds) - first.served_versions.keys():
        return first, first
    await asyncio.sleep(RECHECK_AFTER.total_seconds())
    return first, (await discover(api, groups, previous=None)).discovery


LISTS_AT_ONCE = 4
"""
Number of lists at once: an API server hardly notices them, and small lists do not wait for large ones.
"""

Progress = Callable[[int, int], None]
"""Called with the number of kinds that were read, and of all kinds."""


async def read_cluster(  # noqa: PLR0913
    api: RestClient,
    settings: Settings,
    catalogue: Catalogue,
    clock: Clock,
    *,
    on_progress: Progress = lambda _, __: None,
    namespace: str = "",
    silence_file: SilenceFile | None = None,
) -> Observations:
    """
    Read all kinds of which there is a reason. Kinds that cannot be read are unknown, in *notes*.

    *namespace*: the one that is asked about, whose objects are read where not all may be.
    *silence_file*: that of the cluster's reporter, unless the settings name one. Raises KubeError if
    discovery fails, or if no kind at all could be read.
    """
    store = make_store(settings, catalogue)
    if silence_file is not None and settings.silence_file is None:
        store.record_silence_file(silence_file)
    reading = _Reading(api, store, on_progress, namespace)
    crds = crds_to_track(catalogue, settings.sources)
    found = await confirm_discovery(api, reading.store, crds, clock)
    await reading.list_all(found)
    only_in = dict.fromkeys(reading.limited, namespace)
    snapshot = replace(store.snapshot(), only_in=only_in)
    return Observations(snapshot, clock.now(), tuple(reading.describe()))


class _Reading:
    """
    One reading of all kinds into a store.

    *limited*: the tables of kinds that were read in *namespace* alone. *notes*: which objects cannot be
    decoded, and why.
    """

    def __init__(
        self, api: RestClient, store: Store, on_progress: Progress, namespace: str
    ) -> None:
        self.store, self._namespace = store, namespace
        self.notes: list[str] = []
        self.limited: list[str] = []
        self._unread: dict[str, str] = {}
        self._api, self._timing, self._on_progress = api, WatchTiming(), on_progress
        self._slots = asyncio.Semaphore(LISTS_AT_ONCE)
        self._done = 0

    async def list_all(self, found: DiscoveryResult) -> None:
        async with asyncio.TaskGroup() as group:
            lists = [group.create_task(self._list(kind, found)) for kind in self.store.kinds]
        failed = [error for each in lists if (error := each.result()) is not None]
        # A Namespace that may be got is none of what is asked about.
        got = NAMESPACES.table in self.limited
        read = sum(isinstance(each, Watching) for each in self.store.watch_states)
        if failed and read <= got:
            raise failed[0]

    async def _list(self, kind: ResourceKind, found: DiscoveryResult) -> KubeError | None:
        """List one kind into the store, and return the error if that was not possible."""
        async with self._slots:
            state, error = await self._list_and_store(kind, found)
        self.store.set_watch_state(kind, state)
        if isinstance(state, NotSynced):
            self._unread[kind.group_resource] = state.why
        self._done += 1
        self._on_progress(self._done, len(self.store.kinds))
        return error

    def describe(self) -> Iterable[str]:
        """Return what was not read and why; in one line where a namespace alone may be read."""
        unread = [f"{name}: {why}" for name, why in self._unread.items()]
        if self.limited:
            unread = [describe_only_in(self._namespace, self._unread)]
        return sorted([*unread, *self.notes])

    async def _read(self, kind: ResourceKind, version: str, namespace: str) -> ListResult:
        timeout = self._timing.list_timeout
        if namespace and kind.table == NAMESPACES.table:
            return await get_one(self._api, kind, version, namespace, timeout=timeout)
        return await list_all(self._api, kind, version, page_timeout=timeout, namespace=namespace)

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
            read = partial(self._read, kind, version)
            result, only_in = await read_in_all_or_one(kind, self._namespace, read)
        except Unserved:
            return NotServed(), None
        except KubeError as err:
            return NotSynced(describe_error(err), refused=True), err
        if only_in:
            self.limited.append(kind.table)
        unread = {each.name: each.stub for each in result.undecodable}
        for _ in self.store.replace_in_batches(kind, result.objects, unread):
            await asyncio.sleep(0)
        self.notes += describe_undecodable(kind, result.undecodable)
        return Watching(), None


# --------------------------------------------------------------------
# The words of a reporter in a namespace, for who may not read the control plane.


async def read_reported(api: RestClient, namespace: str, *, now: datetime) -> Sequence[str]:
    """
    Return what a reporter says in a namespace: by status objects, and by Events of the last minutes.

    They may name causes that lie outside of the namespace. What cannot be read is left out. Of a status
    object that has expired by *now* it says that its availability is unknown.
    """
    return (
        *await _read_status_objects(api, namespace, now),
        *await _read_events(api, namespace, now),
    )


async def _read_status_objects(api: RestClient, namespace: str, now: datetime) -> Sequence[str]:
    kind = PRODUCTION_STACK_STATUSES
    timeout = WatchTiming().list_timeout
    try:
        found = await list_all(
            api, kind, kind.versions[0], page_timeout=timeout, namespace=namespace
        )
    except KubeError:
        return ()
    return [
        f"by {kind.kind} {each.metadata.name} of a reporter: {text}"
        for each in found.objects
        if isinstance(each, ProductionStackStatus) and (text := _describe_reported(each, now=now))
    ]


EVENTS_WITHIN = timedelta(minutes=15)
"""A reporter writes the Event of what lasts every few minutes again, `--heartbeat-seconds`."""


async def _read_events(api: RestClient, namespace: str, now: datetime) -> Sequence[str]:
    from reporter.kube.events import list_warnings  # noqa: PLC0415

    try:
        found = await list_warnings(api, namespace)
    except KubeError:
        return ()
    recent = [
        each for each in found if each.last_timestamp and now - each.last_timestamp < EVENTS_WITHIN
    ]
    lines = (
        f"by an Event of a reporter: {each.reason} of {each.involved_object.kind}"
        f" {each.involved_object.name}: {each.message}"
        for each in recent
    )
    return [*dict.fromkeys(lines)]


def _describe_reported(found: ProductionStackStatus, *, now: datetime) -> str:
    """Return the availability that a status object states, with its cause; empty if it states none."""
    status = found.status or {}
    conditions = json_items(status, "conditions")
    available = next((e for e in conditions if json_field(e, "type") == AVAILABLE), None)
    value, message = json_field(available, "status"), json_field(available, "message")
    at = json_field(status, "lastEvaluationTime")
    if not isinstance(value, str) or not isinstance(at, str):
        return ""
    expires_at = parse_zoned_time(json_field(status, EXPIRATION_TIME))
    if expires_at is not None and expires_at <= now:
        return f"availability unknown, as nobody has renewed what was evaluated at {at}"
    words = {"True": "available", "False": "not available"}.get(value, "availability unknown")
    because = f" ({message})" if isinstance(message, str) and message else ""
    return f"{words}{because}, evaluated at {at}"


# --------------------------------------------------------------------
# The source of the status.


class ClusterSource:
    """Reads the whole cluster at each question, and writes nothing. It waits for no change."""

    may_lag = False

    def __init__(
        self,
        api: RestClient,
        settings: Settings,
        catalogue: Catalogue,
        clock: Clock,
        *,
        on_progress: Progress = lambda _, __: None,
        silence_file: SilenceFile | None = None,
    ) -> None:
        self.description = "the cluster, read by this program"
        self._api, self._settings, self._catalogue, self._clock = api, settings, catalogue, clock
        self._on_progress, self._silence_file = on_progress, silence_file
        self._status = OneShotStatus(settings, catalogue)

    async def ask(self, target: Target, *, after: StatusAnswer | None = None) -> StatusAnswer:
        """
        Read the whole cluster, and evaluate it at once, whether or not *after* is given.

        Raises StatusQueryFailed if nothing at all can be read; kinds that cannot be read are notes of the
        answer.
        """
        observations = await self._observe(target)
        if observations.snapshot.only_in:
            reported = await read_reported(self._api, target.namespace, now=observations.at)
            observations = replace(observations, notes=(*observations.notes, *reported))
        return self._status.answer(observations, target)

    async def evaluate(self, target: Target) -> tuple[Evaluation, Sequence[str]]:
        """
        Read the cluster as *ask* does, and return its evaluation and the notes. Raises StatusQueryFailed.
        """
        observations = await self._observe(target)
        return self._status.evaluate(observations), observations.notes

    async def _observe(self, target: Target) -> Observations:
        try:
            return await read_cluster(
                self._api,
                self._settings,
                self._catalogue,
                self._clock,
                on_progress=self._on_progress,
                namespace=target.namespace,
                silence_file=self._silence_file,
            )
        except KubeError as err:
            raise cannot_read_after(err) from err

    async def close(self) -> None:
        """Close the connections to the API server."""
        await self._api.close()
