"""
The task that reads the metrics pages of pods: each once an interval, spread over it.

What a page says, or why it could not be read, goes to the store. Nothing is decided here, and a
slow pod delays no other.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import NoReturn, Protocol

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds.core import Pod
from reporter.kube.watch_context import WatchContext
from reporter.scrape import limits
from reporter.scrape.exposition import (
    MalformedExposition,
    MetricsContent,
    parse_page,
)
from reporter.scrape.fetcher import DirectFetcher, ProxyFetcher, is_pod_address
from reporter.scrape.parsing import content_of, parse_in_steps, result_of
from reporter.scrape.path import DirectTries, PathSelector, ScrapePath, review_proxy_access
from reporter.scrape.samples import (
    NOT_APART,
    FailedScrape,
    ScrapedMetrics,
    ScrapeError,
    ScrapeResult,
)
from reporter.scrape.schedule import LastOutcome, ScrapeSchedule, ScrapeSlot
from reporter.scrape.scrapes import MetricsPage, Scrape
from reporter.scrape.turns import ScrapeTurns, Turn
from reporter.settings import ScrapeMode


class ScrapeTargets(Protocol):
    """The source of the pages to read."""

    def find_if_changed(self) -> Iterator[tuple[MetricsPage, str] | None] | None:
        """
        Iterate over all pages and the uids of their pods; None if they are the same as last time.

        The iterator yields None where other tasks should run.
        """


class ScrapeStore(Protocol):
    """The receiver of samples, by the name of the history that they belong to."""

    def get_pod(self, namespace: str, name: str) -> Pod | None:
        """Return a pod as it is now; None if it is gone."""

    def record_scrape(self, pod: Pod, history_name: str, scrape: ScrapedMetrics) -> None:
        """Add the samples of a page to a history; *pod* is as it was before the request."""

    def record_scrape_failure(self, pod: Pod, history_name: str, failure: FailedScrape) -> None:
        """Add a failed attempt to a history; *pod* is as it was before the request."""


class ScrapeConfig(Struct, frozen=True):
    """
    The configuration of scraping. *scrapes*: by the name of their history.

    *is_allowed*: returns whether an address may be read. *files*: how many files scraping may open.
    *proxied_per_minute*: pages at most through the API server. *try_interval*: between two tries to reach
    the pods of a namespace that are read so at their own addresses.
    """

    scrapes: Mapping[str, Scrape]
    interval: timedelta
    mode: ScrapeMode = ScrapeMode.AUTO
    is_allowed: Callable[[str], bool] = is_pod_address
    files: int = limits.MAX_OPEN_PAGES
    proxied_per_minute: float = limits.PROXIED_PAGES_PER_MINUTE
    try_interval: timedelta = limits.DIRECT_TRY_INTERVAL


class Scraper:
    """
    The loop that reads the metrics pages of pods when they are due.

    *on_result* is called with the outcome of each attempt.
    """

    def __init__(
        self,
        config: ScrapeConfig,
        targets: ScrapeTargets,
        store: ScrapeStore,
        context: WatchContext,
        *,
        on_result: Callable[[ScrapeResult], None] = lambda _: None,
    ) -> None:
        self._config, self._targets, self._store = config, targets, store
        self._api, self._clock = context.api, context.clock
        self._on_result = on_result
        self._schedule = ScrapeSchedule(config.interval)
        self._turns = ScrapeTurns(config.files, config.proxied_per_minute)
        self._paths: PathSelector | None = None
        self._parsing = asyncio.Semaphore(1)
        self._may_start = asyncio.Event()
        self._refreshed_at: float | None = None
        self._wakes_at = 0.0

    def set_scrapes(self, scrapes: Mapping[str, Scrape], targets: ScrapeTargets) -> None:
        """
        Read other pages from now on. A page that is being read still goes to the scrapes so far.
        """
        self._config = replace(self._config, scrapes=scrapes)
        self._targets, self._refreshed_at = targets, None
        self._may_start.set()

    @property
    def mode(self) -> ScrapeMode:
        """
        The setting of the path to the pages: direct, through the API server, or chosen by trial.
        """
        return self._config.mode

    def count_pages(self) -> Mapping[LastOutcome, int]:
        """Count the pages to be read, by the outcome of the last attempt."""
        return self._schedule.count_pages()

    def page_ages(self) -> Mapping[ScrapePath, timedelta]:
        """Return how old a page may be before it is read again, by path; empty before `run`."""
        if self._paths is None:
            return {}
        places = self._schedule.pages_by_place
        return self._turns.page_ages(places, self._paths.path_for, self._config.interval)

    async def run(self) -> NoReturn:
        """Read pages when they are due, and look for new ones, until the task is cancelled."""
        review_access = partial(review_proxy_access, self._api)
        direct, proxy = DirectFetcher(is_allowed=self._config.is_allowed), ProxyFetcher(self._api)
        async with asyncio.TaskGroup() as tasks:
            paths = PathSelector(
                self._config.mode,
                direct,
                proxy,
                review_access=review_access,
                try_interval=self._config.try_interval,
            )
            self._paths = paths
            tries = DirectTries(
                paths,
                self._schedule,
                self._store,
                every=min(limits.TARGET_REFRESH_INTERVAL, self._config.try_interval),
                on_reached=lambda: self._enqueue(paths, self._turns.drain_proxied()),
            )
            tasks.create_task(tries.run(), name="tries of the direct path")
            while True:
                until_refresh = await self._refresh_targets()
                now = _loop_time()
                self._enqueue(paths, self._schedule.pop_due(now))
                if self._start_scrapes(paths, tasks) == limits.STARTS_BETWEEN_YIELDS:
                    await asyncio.sleep(0)
                    continue
                due = self._schedule.next_due()
                until_due = until_refresh if due is None else max(due - now, 0.0)
                until_turn = self._turns.seconds_until_turn(now)
                waits = (until_refresh, until_due, until_turn)
                await self._wait(min(each for each in waits if each is not None))

    async def _wait(self, seconds: float) -> None:
        """Wait until there may be something to do, at most so long."""
        loop = asyncio.get_running_loop()
        self._wakes_at = loop.time() + seconds
        self._may_start.clear()
        # A timer, as to cancel the waiting costs more than all of it.
        timer = loop.call_at(self._wakes_at, self._may_start.set)
        try:
            await self._may_start.wait()
        finally:
            timer.cancel()

    def _enqueue(self, paths: PathSelector, slots: Iterable[ScrapeSlot]) -> None:
        for slot in slots:
            self._turns.enqueue(slot, paths.path_for(slot.page.namespace, slot.page.port))
        self._may_start.set()

    async def _refresh_targets(self) -> float:
        """
        Determine the pages anew if it is time, and return in how many seconds it will be again.
        """
        now = _loop_time()
        every = min(self._config.interval / 2, limits.TARGET_REFRESH_INTERVAL).total_seconds()
        if self._refreshed_at is not None and now - self._refreshed_at < every:
            return self._refreshed_at + every - now
        self._refreshed_at = now
        found = self._targets.find_if_changed()
        if found is not None:
            uids: dict[MetricsPage, str] = {}
            for each in found:
                if each is None:
                    await asyncio.sleep(0)
                else:
                    page, uid = each
                    uids[page] = uid
            self._schedule.set_targets(uids, now=now)
        return every

    def _start_scrapes(self, paths: PathSelector, tasks: asyncio.TaskGroup) -> int:
        """Start scrapes that have a slot, and return how many: at most STARTS_BETWEEN_YIELDS."""
        started, now = 0, _loop_time()
        while started < limits.STARTS_BETWEEN_YIELDS:
            turn = self._turns.acquire(now)
            if turn is None:
                break
            started += 1
            name = "scrape {}/{}:{}".format(*turn.slot.page)
            task = tasks.create_task(self._run_scrape(paths, turn.slot, turn.path), name=name)
            task.add_done_callback(partial(self._release_slot, turn))
        return started

    def _release_slot(self, turn: Turn, _: asyncio.Task[None]) -> None:
        turn.release()
        due = self._schedule.next_due()
        if self._turns.has_waiting() or (due is not None and due < self._wakes_at):
            self._may_start.set()

    async def _run_scrape(self, paths: PathSelector, slot: ScrapeSlot, path: ScrapePath) -> None:
        result, slot.tried_at = ScrapeResult.FAILED, _loop_time()
        try:
            namespace, name, port = slot.page
            pod = self._store.get_pod(namespace, name)
            scrapes = self._scrapes_of(pod, port) if pod is not None else {}
            if pod is not None and pod.status.pod_ip and scrapes:
                try:
                    with await paths.fetch(pod, port, slot.last_outcome, path) as body:
                        content = await self._parse(body, scrapes.values())
                except ScrapeError as err:
                    result = err.result
                    self._record_failure(pod, scrapes, err)
                else:
                    result = self._record_content(pod, scrapes, content, path)
        finally:
            self._schedule.reschedule(
                slot,
                failed=result is not ScrapeResult.READ,
                too_costly=result is ScrapeResult.TOO_COSTLY,
                now=_loop_time(),
            )

    async def _parse(
        self, body: bytes, scrapes: Collection[Scrape]
    ) -> MetricsContent | MalformedExposition:
        families = {name: None for scrape in scrapes for name in scrape.families}
        prefixes = {prefix: None for scrape in scrapes for prefix in scrape.prefixes}
        return await parse_in_steps(parse_page(body, families, prefixes), self._parsing)

    def _scrapes_of(self, pod: Pod, port: int) -> Mapping[str, Scrape]:
        """Return the scrapes that share the request for this page."""
        return {
            reason: scrape
            for reason, scrape in self._config.scrapes.items()
            if scrape.includes(pod, port)
        }

    def _record_failure(self, pod: Pod, scrapes: Mapping[str, Scrape], err: ScrapeError) -> None:
        for reason in scrapes:
            failure = FailedScrape(self._clock.now(), err.why, err.result)
            self._store.record_scrape_failure(pod, reason, failure)
        self._on_result(err.result)

    def _record_content(
        self,
        pod: Pod,
        scrapes: Mapping[str, Scrape],
        content: MetricsContent | MalformedExposition,
        path: ScrapePath,
    ) -> ScrapeResult:
        """Store what each scrape asked for; the page was read if it had it for at least one."""
        now = self._clock.now()
        # Places are counted for it: too dear for pages that are read every interval.
        apart = self.page_ages().get(path) if path is ScrapePath.PROXY else None
        found = {reason: content_of(content, scrape) for reason, scrape in scrapes.items()}
        malformed = [each for each in found.values() if isinstance(each, MalformedExposition)]
        for reason, each in found.items():
            if isinstance(each, MalformedExposition):
                why = f"its page cannot be used: {each.why}"
                failure = FailedScrape(now, why, result_of(each))
                self._store.record_scrape_failure(pod, reason, failure)
            else:
                samples, prefixes = each
                self._store.record_scrape(
                    pod, reason, ScrapedMetrics(now, samples, prefixes, apart or NOT_APART)
                )
        results = {result_of(each) for each in malformed} or {ScrapeResult.READ}
        result = max(results, key=lambda each: each is ScrapeResult.TOO_COSTLY)
        self._on_result(result)
        return result if len(malformed) == len(found) else ScrapeResult.READ


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
