"""
The root task that reads the pages of pods: each once an interval, spread over it.

What a page says, or that it could not be read, goes to the store; nothing is decided here, and a
slow pod costs nobody else anything.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import NoReturn, Protocol

from reporter.kube.client.client import RestClient
from reporter.kube.scrape.addresses import is_pod_address
from reporter.kube.scrape.exposition import MalformedExposition, has_family, parse_samples
from reporter.kube.scrape.fetcher import DirectFetcher, ProxyFetcher, ScrapeError
from reporter.kube.scrape.path import PathSelector, ScrapePath, review_proxy_access
from reporter.kube.scrape.schedule import LastOutcome, ScrapeSchedule, ScrapeSlot
from reporter.kube.scrape.slots import SlotPool
from reporter.kube.watch.context import PassiveClock
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.samples import FailedScrape, ScrapedMetrics, ScrapeResult
from reporter.settings import ScrapeMode
from reporter.stages.resources.downloads import ENGINE_METRIC_PREFIX
from reporter.stages.snapshot.loading import is_loading
from reporter.stages.snapshot.scrape_targets import find_scrape_targets
from reporter.stages.snapshot.snapshot import Snapshot


TARGET_REFRESH_INTERVAL = timedelta(seconds=5)
"""
How often, at the longest, new targets are looked for.
"""

MAX_CONCURRENT = {ScrapePath.DIRECT: (512, (256, 384)), ScrapePath.PROXY: (64, (56, 48))}
"""
How many pods are waited for at once, by the way to them: in all, and at most of those that were read
at their last turn, and of the others. So 128 are kept for the former, who answer in milliseconds.

A pod that accepts and sends nothing holds a place for 2 s at its first turn and for 5 s at later ones,
which come after 1, 2 and then 4 intervals each. Of 10,000 new pods of which half hang all have had a
first turn after 5,000 * 2 s / 384 = 26 s beside the interval over which these are spread; those that
answered are read every interval from then on. To try the 5,000 every 60 s takes
5,000 * 5 s / 60 s = 417 places: it is every 65 s, and every 130 s with 10,000 that hang. New ones do
not wait for these: a place is left every 5 s / 384 = 13 ms. If 5,000 that were read begin to hang all
at once, the others wait for 5,000 * 5 s / 256 = 98 s, once; more places for these would have their
pages arrive in such numbers that the loop is held for more than 50 ms.

They are 512 open files, which with those to the API server (at most 128) stay below the usual limit of
1,024. Through the API server there are fewer, since these are connections that watches and the lease
share: 5,000 that hang there have had their first turn after 5,000 * 5 s / 48 = 9 min.
"""

STARTS_BETWEEN_YIELDS = 16
"""
Turns that are begun before all else that is due has its own.
"""


class ScrapeStore(Protocol):
    """
    Where targets are found, and samples go to.
    """

    def snapshot(self) -> Snapshot: ...

    def get_pod(self, namespace: str, name: str) -> Pod | None: ...

    def record_scrape(self, pod: Pod, scrape: ScrapedMetrics) -> None: ...

    def record_scrape_failure(self, pod: Pod, unread: FailedScrape) -> None: ...


@dataclass(frozen=True, slots=True)
class ScrapeConfig:
    """
    How pods are read. *metrics*: the families that are wanted of each page.

    *allowed*: which addresses may be read.
    """

    families: tuple[str, ...]
    port: int
    interval: timedelta
    mode: ScrapeMode = ScrapeMode.AUTO
    is_allowed: Callable[[str], bool] = is_pod_address


class Scraper:
    """
    *counted* is told how each attempt ended.
    """

    def __init__(
        self,
        scraping: ScrapeConfig,
        store: ScrapeStore,
        clock: PassiveClock,
        api: RestClient,
        *,
        on_result: Callable[[ScrapeResult], None] = lambda _: None,
    ) -> None:
        self._config, self._store, self._clock, self._api = scraping, store, clock, api
        self._on_result = on_result
        self._schedule = ScrapeSchedule(scraping.interval)
        self._pools = {
            way: SlotPool[ScrapeSlot](*places) for way, places in MAX_CONCURRENT.items()
        }
        self._slot_released = asyncio.Event()
        self._refreshed_at: float | None = None
        self._last_snapshot: Snapshot | None = None

    @property
    def mode(self) -> ScrapeMode:
        return self._config.mode

    async def run(self) -> NoReturn:
        port = self._config.port
        through = ProxyFetcher(self._api, port)
        granted = partial(review_proxy_access, self._api)
        async with (
            DirectFetcher(port, is_allowed=self._config.is_allowed) as at_pods,
            asyncio.TaskGroup() as tasks,
        ):
            ways = PathSelector(self._config.mode, at_pods, through, review_access=granted)
            while True:
                now = asyncio.get_running_loop().time()
                look = self._refresh_targets(now)
                for turn in self._schedule.pop_due(now):
                    room = self._pools[ways.path_for(turn.name[0])]
                    room.enqueue(
                        turn, int(turn.last_outcome is not LastOutcome.SUCCEEDED), turn.priority
                    )
                if self._start_scrapes(ways, tasks) == STARTS_BETWEEN_YIELDS:
                    await asyncio.sleep(0)
                    continue
                due = self._schedule.next_due()
                pause = min(look, look if due is None else max(due - now, 0.0))
                self._slot_released.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._slot_released.wait()

    def _start_scrapes(self, ways: PathSelector, tasks: asyncio.TaskGroup) -> int:
        """
        Begin turns for which there is a place, and return how many: BURST at most.
        """
        begun = 0
        for way, room in self._pools.items():
            while begun < STARTS_BETWEEN_YIELDS and (entered := room.acquire()) is not None:
                begun += 1
                turn, group = entered
                name = f"scrape {'/'.join(turn.name)}"
                task = tasks.create_task(self._run_scrape(ways, turn, way), name=name)
                task.add_done_callback(partial(self._release_slot, room, group))
        return begun

    def _release_slot(self, room: SlotPool[ScrapeSlot], group: int, _: asyncio.Task[None]) -> None:
        room.release(group)
        self._slot_released.set()

    def _refresh_targets(self, now: float) -> float:
        """
        Look for targets if it is time, and return in how many seconds it will be again.
        """
        every = min(self._config.interval / 2, TARGET_REFRESH_INTERVAL).total_seconds()
        if self._refreshed_at is not None and now - self._refreshed_at < every:
            return self._refreshed_at + every - now
        self._refreshed_at = now
        before, self._last_snapshot = self._last_snapshot, self._store.snapshot()
        if before is None or not _has_same_targets(before, self._last_snapshot):
            found = find_scrape_targets(self._last_snapshot)
            uids = {(p.metadata.namespace, p.metadata.name): p.metadata.uid for p in found}
            self._schedule.set_targets(uids, now=now)
        return every

    async def _run_scrape(self, ways: PathSelector, turn: ScrapeSlot, way: ScrapePath) -> None:
        read = False
        try:
            pod = self._store.get_pod(*turn.name)
            if pod is not None and pod.status.pod_ip and is_loading(pod):
                read = await self._fetch_and_store(pod, ways.fetch(pod, turn.last_outcome, way))
        finally:
            now = asyncio.get_running_loop().time()
            self._schedule.reschedule(turn, failed=not read, now=now)

    async def _fetch_and_store(self, pod: Pod, page: Awaitable[bytes]) -> bool:
        try:
            scrape = self._parse_page(await page)
        except ScrapeError as err:
            self._store.record_scrape_failure(pod, FailedScrape(self._clock.now(), err.why))
            self._on_result(err.result)
            return False
        self._store.record_scrape(pod, scrape)
        self._on_result(ScrapeResult.READ)
        return True

    def _parse_page(self, page: bytes) -> ScrapedMetrics:
        found = parse_samples(page, self._config.families)
        if isinstance(found, MalformedExposition):
            raise ScrapeError(ScrapeResult.UNUSABLE, f"its page cannot be used: {found.why}")
        return ScrapedMetrics(
            self._clock.now(), found, has_engine_metrics=has_family(page, ENGINE_METRIC_PREFIX)
        )


def _has_same_targets(one: Snapshot, other: Snapshot) -> bool:
    """
    Whether targets are the same in both.
    """
    return all(
        one.tables[kind.resource].objects.is_same(other.tables[kind.resource].objects)
        for kind in (PODS, NAMESPACES)
    )
