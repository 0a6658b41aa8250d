"""
Keeps the objects of one kind in the store, by a list and a watch from its version on.

Works after client-go's reflector. Every duration is in *Pace*.
"""

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Protocol

from reporter.kube.client.watch_stream import WatchStream
from reporter.kube.watch.context import WatchContext
from reporter.kube.watch.ingest import Ingester, ObjectStore, ReflectorStats
from reporter.kube.watch.lister import ListResult, list_all
from reporter.kube.watch.watch_events import decode_watch_event
from reporter.kube.watch.watch_health import WatchHealth, WatchStateStore
from reporter.kube.wire.backoff import Backoff, is_no_response, pause_after
from reporter.kube.wire.error_mapping import RequestInfo
from reporter.kube.wire.errors import Expired, Invalid, KubeError, Throttled, Unreachable, Unserved
from reporter.kube.wire.paths import Query, collection_path, name_field_selector
from reporter.model.kinds.base.resource_kind import ResourceKind


EVENTS_BETWEEN_YIELDS = 200
"""
Events after which other tasks get a turn, when a watch has more of them than it is read.
"""

FAILURES_BEFORE_RELIST = 3
"""
Failures in a row after which the version to watch from is no longer believed in. Watches that
open and break before their first line are some, too: only a list shows whether anything is seen.
"""

ONE_SECOND = timedelta(seconds=1)

logger = logging.getLogger(__name__)


class ReflectorStore(ObjectStore, WatchStateStore, Protocol):
    """
    *served* is the version to read a kind in; None while that is not known.
    """

    def served_version(self, kind: ResourceKind) -> str | None: ...


class ServedResources(Protocol):
    """
    What a reflector needs of the lookout for served resources.
    """

    def request_refresh(self) -> None: ...

    async def wait_for_answer(self) -> None: ...

    def is_unserved(self, kind: ResourceKind) -> bool: ...


class Reflector:
    """
    *run* is a root task.
    """

    def __init__(
        self,
        means: WatchContext,
        kind: ResourceKind,
        store: ReflectorStore,
        discovery: ServedResources,
    ) -> None:
        self.kind = kind
        self._context = means
        self._store = store
        self._discovery = discovery
        self._watch_health = WatchHealth(kind, store, means.clock)
        self._ingester = Ingester(kind, store, means.clock)
        self._backoff = Backoff(means.timing.backoff)
        self._api_version = ""
        self._relist_at = 0.0
        self._next_free_expiry_at = 0.0
        self._failed_empty_watches = 0

    @property
    def stats(self) -> ReflectorStats:
        return self._ingester.stats

    async def run(self) -> None:
        while True:
            try:
                await self._list_and_watch()
            except KubeError as err:
                await self._recover(err)

    async def _list_and_watch(self) -> None:
        version = await self._wait_for_version()
        if self._needs_list(version):
            self._api_version, self._ingester.resource_version = version, ""
            within = self._context.timing.list_timeout
            await self._replace_store(
                await list_all(self._context.api, self.kind, version, page_timeout=within)
            )
        await self._watch()

    async def _wait_for_version(self) -> str:
        answered = False
        while True:
            version = self._store.served_version(self.kind)
            if version is not None:
                return version
            if self._discovery.is_unserved(self.kind):
                self._watch_health.record_unserved()
            elif answered:
                self._watch_health.record_failure(self._discovery_error())
            await self._discovery.wait_for_answer()
            answered = True

    def _discovery_error(self) -> Unreachable:
        return Unreachable(
            f"discover {self.kind.group_resource}", message="its API group could not be discovered"
        )

    def _needs_list(self, version: str) -> bool:
        """
        After blindness, too: a watch would tell what happened meanwhile as if it were so now.
        """
        blind = self._watch_health.unwatched_for >= self._context.timing.stale_after
        due = self._now() >= self._relist_at
        return blind or due or not self._ingester.resource_version or version != self._api_version

    async def _watch(self) -> None:
        """
        One watch, to its end.
        """
        pace, began = self._context.timing, self._now()
        duration = self._watch_timeout()
        asked = RequestInfo(
            f"watch {self.kind.group_resource}", path=collection_path(self.kind, self._api_version)
        )
        async with self._context.api.open_watch(
            asked.path,
            self._watch_query(duration),
            idle_timeout=pace.idle_timeout,
            max_duration=duration + pace.watch_timeout_grace,
            operation=asked.operation,
        ) as lines:
            await self._read_events(lines, asked)
        lasted = timedelta(seconds=self._now() - began)
        if not lines.idle_timed_out and lasted < duration - ONE_SECOND:
            self._discovery.request_refresh()
        await asyncio.sleep(max(pace.rewatch_interval - lasted, timedelta(0)).total_seconds())

    async def _read_events(self, lines: WatchStream, asked: RequestInfo) -> None:
        self._watch_health.record_watch_start()
        self._ingester.record_watch_start()
        read = 0
        try:
            async for line in lines:
                self._ingester.apply(decode_watch_event(line, self.kind, asked))
                read += 1
                if not read % EVENTS_BETWEEN_YIELDS:
                    await asyncio.sleep(0)
        except KubeError:
            self._discovery.request_refresh()
            self._failed_empty_watches = 0 if read else self._failed_empty_watches + 1
            raise
        finally:
            self._watch_health.record_watch_end(self._last_event if lines.idle_timed_out else None)

    async def _replace_store(self, listing: ListResult) -> None:
        pace = self._context.timing
        self._failed_empty_watches = 0
        await self._ingester.replace(listing)
        self._watch_health.record_list()
        until = pace.jittered(pace.relist_interval, self._context.random)
        self._relist_at = self._now() + until.total_seconds()

    async def _recover(self, err: KubeError) -> None:
        """
        An expired version is nothing unusual, if not soon after another; all else waits.
        """
        now, growth = self._now(), self._context.timing.backoff
        if isinstance(err, Expired) and now >= self._next_free_expiry_at:
            self._ingester.resource_version = ""
            self._next_free_expiry_at = now + growth.cap.total_seconds()
            return
        self._backoff = self._backoff.with_failure(now=now, no_response=is_no_response(err))
        if isinstance(err, Unserved):
            await self._wait_until_served()
        else:
            self._watch_health.record_failure(err)
            if self._is_relist_needed(err):
                self._ingester.resource_version = ""
        pause = pause_after(self._backoff, err, self._context.random.random())
        await asyncio.sleep(pause.total_seconds())

    async def _wait_until_served(self) -> None:
        """
        Discovery decides; a server that contradicts itself is asked ever less often.
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
        """
        No watch goes on beyond the time of the next list.
        """
        pace = self._context.timing
        left = timedelta(seconds=self._relist_at - self._now())
        return max(min(pace.watch_timeout(self._context.random), left), ONE_SECOND)

    @property
    def _last_event(self) -> datetime | None:
        return self._ingester.stats.last_event

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
