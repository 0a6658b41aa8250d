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

from reporter.kube.addresses import is_address_of_a_pod
from reporter.kube.client import Api
from reporter.kube.means import Clock
from reporter.kube.pages import AtPods, NoPage, ThroughServer
from reporter.kube.room import Room
from reporter.kube.rounds import Rounds, Trust, Turn
from reporter.kube.ways import Way, Ways, may_proxy
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

PLACES = {Way.DIRECT: (512, (256, 384)), Way.PROXY: (64, (56, 48))}
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

BURST = 16
"""
Turns that are begun before all else that is due has its own.
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
        self._rooms = {way: Room[Turn](*places) for way, places in PLACES.items()}
        self._left = asyncio.Event()
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
            asyncio.TaskGroup() as tasks,
        ):
            ways = Ways(self._scraping.mode, at_pods, through, allowed=granted)
            while True:
                now = asyncio.get_running_loop().time()
                look = self._follow(now)
                for turn in self._rounds.due(now):
                    room = self._rooms[ways.way(turn.name[0])]
                    room.ask(turn, int(turn.trust is not Trust.READ), turn.rank)
                if self._begin(ways, tasks) == BURST:
                    await asyncio.sleep(0)
                    continue
                due = self._rounds.next()
                pause = min(look, look if due is None else max(due - now, 0.0))
                self._left.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._left.wait()

    def _begin(self, ways: Ways, tasks: asyncio.TaskGroup) -> int:
        """
        Begin turns for which there is a place, and return how many: BURST at most.
        """
        begun = 0
        for way, room in self._rooms.items():
            while begun < BURST and (entered := room.enter()) is not None:
                begun += 1
                turn, group = entered
                name = f"scrape {'/'.join(turn.name)}"
                task = tasks.create_task(self._turn(ways, turn, way), name=name)
                task.add_done_callback(partial(self._ended, room, group))
        return begun

    def _ended(self, room: Room[Turn], group: int, _: asyncio.Task[None]) -> None:
        room.leave(group)
        self._left.set()

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

    async def _turn(self, ways: Ways, turn: Turn, way: Way) -> None:
        read = False
        try:
            pod = self._store.pod(*turn.name)
            if pod is not None and pod.status.pod_ip and is_loading(pod):
                read = await self._scrape(pod, ways.read(pod, turn.trust, way))
        finally:
            now = asyncio.get_running_loop().time()
            self._rounds.done(turn, failed=not read, now=now)

    async def _scrape(self, pod: Pod, page: Awaitable[bytes]) -> bool:
        try:
            scrape = self._read(await page)
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
