"""
Keep the objects of one kind in the store, by a list and a watch from its resourceVersion on.

Modelled on client-go's reflector (tools/cache/reflector.go). All durations are in `WatchTiming`.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import NoReturn, Protocol

from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.backoff import Backoff, is_no_response, least_pause_after, pause_after
from reporter.kube.error_mapping import RequestInfo
from reporter.kube.errors import Expired, Invalid, KubeError, Throttled, Unreachable, Unserved
from reporter.kube.ingest import Backlog, Ingester, ObjectStore, ReflectorStats
from reporter.kube.lister import ListResult, list_all
from reporter.kube.paths import Query, collection_path, name_field_selector
from reporter.kube.received_response import WatchStream
from reporter.kube.watch_context import WatchContext
from reporter.kube.watch_events import decode_watch_event
from reporter.kube.watch_health import WatchHealth, WatchStateStore


EVENTS_BETWEEN_YIELDS = 20
"""
Events after which other tasks run while a watch delivers events without a pause: some six milliseconds, less
than a step of a pass, so that in an outage of all models at once passes get most of the time.
"""

FAILURES_BEFORE_RELIST = 3
"""
Failures in a row after which the resourceVersion is given up and the kind is listed anew. Watches
that break before their first event count as well: only a list shows whether we see anything.
"""

ONE_SECOND = timedelta(seconds=1)

logger = logging.getLogger(__name__)


class ReflectorStore(ObjectStore, WatchStateStore, Protocol):
    """The store that a reflector writes to: objects, and the state of their watch."""

    def served_version(self, kind: ResourceKind) -> str | None:
        """
        Return the API version to read the kind in; None while unknown, or if none we read is served.
        """


class ServedResources(Protocol):
    """The part of the discovery loop that reflectors use, to wait for a kind that is not served."""

    def request_refresh(self) -> None:
        """Ask for a discovery soon: a list or watch has found its resource not served."""

    async def wait_for_answer(self) -> None:
        """Return after the next run of discovery, whether it succeeds or not."""

    def is_unserved(self, kind: ResourceKind) -> bool:
        """
        Return whether the last answer has no version of the kind that we read; False before the first.
        """

    def is_group_failing(self, kind: ResourceKind) -> bool:
        """
        Return whether the last answer states that the API group of the kind could not be discovered.
        """

    def why_misdeclared(self, kind: ResourceKind) -> str:
        """
        Return why the kind cannot be read as it is declared, and what to do; empty if nothing is against it.
        """


class Reflector:
    """
    Lists and watches one kind for as long as `run` is running.

    *namespace*: whose objects alone are read; empty for all, or for that of the kind.
    """

    def __init__(
        self,
        context: WatchContext,
        kind: ResourceKind,
        store: ReflectorStore,
        discovery: ServedResources,
        *,
        namespace: str = "",
    ) -> None:
        self.kind, self._namespace = kind, namespace
        self._context = context
        self._store = store
        self._discovery = discovery
        self._watch_health = WatchHealth(kind, store, context.clock)
        self._ingester = Ingester(kind, store, context.clock)
        self._backoff = Backoff(context.timing.backoff)
        self._api_version = ""
        self._relist_at = 0.0
        self._next_free_expiry_at = 0.0
        self._failed_empty_watches = 0
        self._open_watch: asyncio.Timeout | None = None

    @property
    def stats(self) -> ReflectorStats:
        """The counters of this kind since the process began to read it."""
        return self._ingester.stats

    @property
    def resource_version(self) -> str:
        """The version up to which the store is complete; empty while a list is needed."""
        return self._ingester.resource_version

    def report_missed_event(self) -> None:
        """
        List the kind anew: its watch has missed a change, and may have missed others.

        The watch ends first, lest events from before the list undo it. If none is open, a list
        follows anyway.
        """
        self._ingester.record_missed_event()
        if self._open_watch is not None:
            self._ingester.resource_version = ""
            self._open_watch.reschedule(self._now())
            self._open_watch = None

    async def run(self) -> None:
        """
        List and watch until cancelled. KubeErrors become states of the watch, and are never raised.
        """
        while True:
            try:
                await self._list_and_watch()
            except KubeError as err:
                await self._recover(err)

    async def _list_and_watch(self) -> None:
        version = await self._wait_for_version()
        if self._needs_list(version):
            self._api_version, self._ingester.resource_version = version, ""
            # In a coroutine of its own, whose end lets go of the list: a watch lasts for minutes, in
            # which objects are deleted.
            await self._list(version)
        await self._watch_until_missed()

    async def _list(self, version: str) -> None:
        with self._context.recovery.attempt(self):
            listed = await list_all(
                self._context.api,
                self.kind,
                version,
                page_timeout=self._context.timing.list_timeout,
                namespace=self._namespace,
                # The watch that follows would hold its buffers for good: 1.2 MiB at 1,000 InferenceSets.
                keeps_connection=False,
            )
        await self._replace_store(listed)

    async def _wait_for_version(self) -> str:
        answered = False
        while True:
            version = self._store.served_version(self.kind)
            misdeclared = self._discovery.why_misdeclared(self.kind)
            if version is not None and not misdeclared:
                return version
            if misdeclared:
                self._ingester.resource_version = ""
                self._watch_health.record_misdeclared(misdeclared)
            elif self._discovery.is_unserved(self.kind):
                self._watch_health.record_unserved()
            elif answered:
                operation = f"discover {self.kind.group_resource}"
                err = Unreachable(operation, message="its API group could not be discovered")
                refused = self._discovery.is_group_failing(self.kind)
                self._watch_health.record_failure(err, refused=refused)
            await self._discovery.wait_for_answer()
            answered = True

    def _needs_list(self, version: str) -> bool:
        """
        Return whether a list is needed before the next watch.

        It is after a long time without a watch, too: a watch would replay what happened meanwhile,
        and each past state would look like the current one.
        """
        is_stale = self._watch_health.unwatched_for >= self._context.timing.stale_after
        due = self._now() >= self._relist_at
        return (
            is_stale or due or not self._ingester.resource_version or version != self._api_version
        )

    async def _watch_until_missed(self) -> None:
        """Watch until the watch ends, or until it is reported to have missed an event."""
        scope = self._open_watch = asyncio.timeout(None)
        try:
            async with scope:
                await self._watch()
        except TimeoutError:
            if not scope.expired():
                raise
        finally:
            self._open_watch = None

    async def _watch(self) -> None:
        """Open one watch and read it to its end."""
        timing, started_at = self._context.timing, self._now()
        duration = self._watch_timeout()
        request = RequestInfo(
            f"watch {self.kind.group_resource}",
            path=collection_path(self.kind, self._api_version, self._namespace),
        )
        async with self._context.api.open_watch(
            request.path,
            self._watch_query(duration),
            idle_timeout=timing.idle_timeout,
            max_duration=duration + timing.watch_timeout_grace,
            operation=request.operation,
        ) as stream:
            await self._read_events(stream, request)
        lasted = timedelta(seconds=self._now() - started_at)
        # A change of its CRD ends a watch early (apiextensions-apiserver, customresource_handler.go).
        if not stream.idle_timed_out and lasted < duration - ONE_SECOND:
            self._discovery.request_refresh()
        await asyncio.sleep(max(timing.rewatch_interval - lasted, timedelta(0)).total_seconds())

    async def _read_events(self, stream: WatchStream, request: RequestInfo) -> None:
        timing = self._context.timing
        backlog = Backlog(
            self._ingester,
            is_replayed=bool(self._watch_health.unwatched_for),
            quiet=timing.backlog_quiet,
            limit=timing.backlog_limit,
        )
        self._watch_health.record_watch_start()
        self._ingester.record_watch_start()
        try:
            await self._read_into(backlog, stream, request)
        except KubeError:
            self._discovery.request_refresh()
            failed_empty = 0 if backlog.has_applied else self._failed_empty_watches + 1
            self._failed_empty_watches = failed_empty
            raise
        finally:
            backlog.drop()
            self._watch_health.record_watch_end(
                self.stats.last_event if stream.idle_timed_out else None
            )

    async def _read_into(
        self, backlog: Backlog, stream: WatchStream, request: RequestInfo
    ) -> None:
        read = 0
        async for line in stream:
            backlog.add(decode_watch_event(line, self.kind, request))
            read += 1
            if not read % EVENTS_BETWEEN_YIELDS:
                await asyncio.sleep(0)

    async def _replace_store(self, result: ListResult) -> None:
        timing = self._context.timing
        self._failed_empty_watches = 0
        await self._ingester.replace(result)
        self._watch_health.record_list()
        until = timing.jittered(timing.relist_interval, self._context.random)
        self._relist_at = self._now() + until.total_seconds()

    async def _recover(self, err: KubeError) -> None:
        """
        Wait as long as the error requires, and decide whether a list is needed.

        A resourceVersion that has expired is normal after a quiet time (API concepts, "410 Gone
        responses"), so the list follows at once. If it expires again soon, the backoff applies.
        """
        now, parameters = self._now(), self._context.timing.backoff
        if isinstance(err, Expired) and now >= self._next_free_expiry_at:
            self._ingester.resource_version = ""
            self._next_free_expiry_at = now + parameters.cap.total_seconds()
            return
        self._backoff = self._backoff.with_failure(now=now, no_response=is_no_response(err))
        if isinstance(err, Unserved):
            await self._wait_until_served()
        random = self._context.random.random()
        pause = pause_after(self._backoff, err, random)
        if not isinstance(err, Unserved):
            self._watch_health.record_failure(err, pause)
            if self._is_relist_needed(err):
                self._ingester.resource_version = ""
        least = least_pause_after(self._backoff, err, random)
        if await self._context.recovery.wait(pause, at_least=least):
            self._backoff = Backoff(parameters)

    async def _wait_until_served(self) -> None:
        """
        Wait for discovery to say whether the kind is served.

        If the server lists a kind that it answers with 404, the backoff goes on growing.
        """
        self._ingester.resource_version = ""
        self._watch_health.record_unserved()
        self._discovery.request_refresh()
        await self._discovery.wait_for_answer()
        if self._discovery.is_unserved(self.kind):
            self._backoff = Backoff(self._context.timing.backoff)

    def _is_relist_needed(self, err: KubeError) -> bool:
        if (
            isinstance(err, Expired | Invalid)
            or self._failed_empty_watches >= FAILURES_BEFORE_RELIST
        ):
            return True
        answered = err.status > 0 and not isinstance(err, Throttled)
        return answered and self._backoff.failures >= FAILURES_BEFORE_RELIST

    def _watch_query(self, duration: timedelta) -> Query:
        query = [
            ("watch", "1"),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", str(int(duration / ONE_SECOND))),
            ("labelSelector", self.kind.label_selector),
            ("fieldSelector", name_field_selector(self.kind)),
            ("resourceVersion", self._ingester.resource_version),
        ]
        return [(name, value) for name, value in query if value]

    def _watch_timeout(self) -> timedelta:
        """Return the timeout of the next watch, which must not last beyond the next relist."""
        timing = self._context.timing
        left = timedelta(seconds=self._relist_at - self._now())
        return max(min(timing.watch_timeout(self._context.random), left), ONE_SECOND)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


# --------------------------------------------------------------------
# The reflectors of a set of kinds that may change, run as one task.


class Reflectors:
    """
    Runs one reflector for each kind that is set.

    *make*: returns a reflector of a kind. Kinds are listed in the order in which they are set.
    *by_kind*: the reflectors of the kinds that are set now, in that order.
    """

    def __init__(self, make: Callable[[ResourceKind], Reflector]) -> None:
        self._make = make
        self.by_kind: Mapping[ResourceKind, Reflector] = {}
        self._tasks: dict[ResourceKind, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None

    def prepare_kinds(self, kinds: Iterable[ResourceKind]) -> Callable[[], None]:
        """
        Return a function that watches these kinds alone; nothing changes before it is called.

        The reflectors of kinds that stay go on. Undelivered events of a watch that ends are dropped.
        """
        before = self.by_kind
        return partial(self._set, {kind: before.get(kind) or self._make(kind) for kind in kinds})

    def _set(self, after: Mapping[ResourceKind, Reflector]) -> None:
        before, self.by_kind = self.by_kind, after
        for kind in before.keys() - after.keys():
            task = self._tasks.pop(kind, None)
            if task is not None:
                # It is suspended now, so it takes no further step but to end.
                task.cancel()
        self._start()

    async def run(self) -> NoReturn:
        """Run the reflectors until cancelled, also those of kinds that are set later."""
        try:
            async with asyncio.TaskGroup() as self._group:
                self._start()
                while True:
                    await asyncio.Future()
        finally:
            self._group = None

    def _start(self) -> None:
        if self._group is None:
            return
        for kind, reflector in self.by_kind.items():
            if kind not in self._tasks:
                name = f"reflector {kind.watch_name}"
                self._tasks[kind] = self._group.create_task(reflector.run(), name=name)
