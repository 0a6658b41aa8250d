"""
The root task that reads the pages of pods: each once an interval, spread over it.

What a page says, or that it could not be read, goes to the store; nothing is decided here, and a
slow pod costs nobody else anything.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import NoReturn, Protocol

from reporter.kube.addresses import is_address_of_a_pod
from reporter.kube.client import Api
from reporter.kube.means import Clock
from reporter.kube.pages import AT_ONCE, AtPods, NoPage, ThroughServer
from reporter.kube.room import Room
from reporter.kube.rounds import PodName, Rounds
from reporter.kube.ways import Ways, may_proxy
from reporter.model.kinds import NAMESPACES, PODS
from reporter.model.objects import Pod
from reporter.model.samples import Scrape, ScrapeResult, Unread
from reporter.settings import ScrapeMode
from reporter.stages.exposition import Malformed, has_family, samples
from reporter.stages.loading import is_loading
from reporter.stages.snapshot import Snapshot
from reporter.stages.targets import targets
from reporter.stages.windows import ENGINE


LOOK = timedelta(seconds=5)
"""
How often, at the longest, new targets are looked for.
"""

ROOM = (AT_ONCE, AT_ONCE * 7 // 8, AT_ONCE * 3 // 4)
"""
Turns at once: all, those of pods that were not read at their last turn, those that failed.
"""

NEW = 1
"""
The doubts of a pod before its first turn.
"""


class Samples(Protocol):
    """
    Where targets are found, and samples go to.
    """

    def view(self) -> Snapshot: ...

    def pod(self, namespace: str, name: str) -> Pod | None: ...

    def sampled(self, pod: Pod, scrape: Scrape) -> None: ...

    def unread(self, pod: Pod, unread: Unread) -> None: ...


@dataclass(frozen=True, slots=True)
class Scraping:
    """
    How pods are read. *metrics*: the families that are wanted of each page.

    *allowed*: which addresses may be read.
    """

    metrics: tuple[str, ...]
    port: int
    interval: timedelta
    mode: ScrapeMode = ScrapeMode.AUTO
    allowed: Callable[[str], bool] = is_address_of_a_pod


class Scraper:
    """
    *counted* is told how each attempt ended.
    """

    def __init__(
        self,
        scraping: Scraping,
        store: Samples,
        clock: Clock,
        api: Api,
        *,
        counted: Callable[[ScrapeResult], None] = lambda _: None,
    ) -> None:
        self._scraping, self._store, self._clock, self._api = scraping, store, clock, api
        self._counted = counted
        self._rounds = Rounds(scraping.interval)
        self._room = Room(ROOM, hasty=NEW)
        self._looked: float | None = None
        self._seen: Snapshot | None = None

    @property
    def mode(self) -> ScrapeMode:
        return self._scraping.mode

    async def run(self) -> NoReturn:
        port = self._scraping.port
        through = ThroughServer(self._api, port)
        granted = partial(may_proxy, self._api)
        async with (
            AtPods(port, allowed=self._scraping.allowed) as at_pods,
            asyncio.TaskGroup() as group,
        ):
            ways = Ways(self._scraping.mode, at_pods, through, allowed=granted)
            while True:
                now = asyncio.get_running_loop().time()
                look = self._follow(now)
                for name, uid in self._rounds.due(now):
                    turn = self._turn(ways, name, uid)
                    group.create_task(turn, name=f"scrape {'/'.join(name)}")
                due = self._rounds.next()
                await asyncio.sleep(min(look, look if due is None else max(due - now, 0.0)))

    def _follow(self, now: float) -> float:
        """
        Look for targets if it is time, and return in how many seconds it will be again.
        """
        every = min(self._scraping.interval / 2, LOOK).total_seconds()
        if self._looked is not None and now - self._looked < every:
            return self._looked + every - now
        self._looked = now
        before, self._seen = self._seen, self._store.view()
        if before is None or not _is_same(before, self._seen):
            found = targets(self._seen)
            uids = {(p.metadata.namespace, p.metadata.name): p.metadata.uid for p in found}
            self._rounds.follow(uids, now=now)
        return every

    async def _turn(self, ways: Ways, name: PodName, uid: str) -> None:
        read = False
        try:
            async with self._room.place(self._rounds.doubts(name)):
                pod = self._store.pod(*name)
                if pod is not None and pod.status.pod_ip and is_loading(pod):
                    read = await self._scrape(ways, pod)
        finally:
            now = asyncio.get_running_loop().time()
            self._rounds.done(name, uid, failed=not read, now=now)

    async def _scrape(self, ways: Ways, pod: Pod) -> bool:
        try:
            scrape = self._read(await ways.read(pod))
        except NoPage as err:
            self._store.unread(pod, Unread(self._clock.now(), err.why))
            self._counted(err.result)
            return False
        self._store.sampled(pod, scrape)
        self._counted(ScrapeResult.READ)
        return True

    def _read(self, page: bytes) -> Scrape:
        found = samples(page, self._scraping.metrics)
        if isinstance(found, Malformed):
            raise NoPage(ScrapeResult.UNUSABLE, f"its page cannot be used: {found.why}")
        return Scrape(self._clock.now(), found, engine=has_family(page, ENGINE))


def _is_same(one: Snapshot, other: Snapshot) -> bool:
    """
    Whether targets are the same in both.
    """
    return all(
        one.tables[kind.resource].objects.is_same(other.tables[kind.resource].objects)
        for kind in (PODS, NAMESPACES)
    )
