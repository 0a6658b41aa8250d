"""
Keeps the objects of one kind in the store, by a list and a watch from its version on.

Works after client-go's reflector. Every duration is in *Pace*.
"""

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Protocol

from reporter.kube.backoff import Backoff, is_deaf, pause_after
from reporter.kube.changes import read_event
from reporter.kube.errors import Expired, Invalid, KubeError, Throttled, Unreachable, Unserved
from reporter.kube.intake import Intake, Objects, Progress
from reporter.kube.lines import Lines
from reporter.kube.lists import Listing, list_all
from reporter.kube.means import Means
from reporter.kube.paths import Query, collection, named
from reporter.kube.standing import Sights, Standing
from reporter.kube.translation import Asked
from reporter.model.kinds import ResourceKind


BURST = 200
"""
Events after which other tasks get a turn, when a watch has more of them than it is read.
"""

DISTRUST = 3
"""
Failures in a row after which the version to watch from is no longer believed in. Watches that
open and break before their first line are some, too: only a list shows whether anything is seen.
"""

SECOND = timedelta(seconds=1)

logger = logging.getLogger(__name__)


class Store(Objects, Sights, Protocol):
    """
    *served* is the version to read a kind in; None while that is not known.
    """

    def served(self, kind: ResourceKind) -> str | None: ...


class Discovery(Protocol):
    """
    What a reflector needs of the lookout for served resources.
    """

    def ask(self) -> None: ...

    async def answered(self) -> None: ...

    def lacks(self, kind: ResourceKind) -> bool: ...


class Reflector:
    """
    *run* is a root task.
    """

    def __init__(
        self, means: Means, kind: ResourceKind, store: Store, discovery: Discovery
    ) -> None:
        self.kind = kind
        self._means = means
        self._store = store
        self._discovery = discovery
        self._standing = Standing(kind, store, means.clock)
        self._intake = Intake(kind, store, means.clock)
        self._backoff = Backoff(means.pace.growth)
        self._version = ""
        self._relist_at = 0.0
        self._expirable_at = 0.0
        self._fruitless = 0

    @property
    def progress(self) -> Progress:
        return self._intake.progress

    async def run(self) -> None:
        while True:
            try:
                await self._list_and_watch()
            except KubeError as err:
                await self._recover(err)

    async def _list_and_watch(self) -> None:
        version = await self._served()
        if self._needs_list(version):
            self._version, self._intake.position = version, ""
            within = self._means.pace.listing
            await self._replace(await list_all(self._means.api, self.kind, version, within=within))
        await self._watch()

    async def _served(self) -> str:
        answered = False
        while True:
            version = self._store.served(self.kind)
            if version is not None:
                return version
            if self._discovery.lacks(self.kind):
                self._standing.unserved()
            elif answered:
                self._standing.blind(self._undiscovered())
            await self._discovery.answered()
            answered = True

    def _undiscovered(self) -> Unreachable:
        return Unreachable(
            f"discover {self.kind.qualified}", message="its API group could not be discovered"
        )

    def _needs_list(self, version: str) -> bool:
        """
        After blindness, too: a watch would tell what happened meanwhile as if it were so now.
        """
        blind = self._standing.lost >= self._means.pace.blind
        due = self._now() >= self._relist_at
        return blind or due or not self._intake.position or version != self._version

    async def _watch(self) -> None:
        """
        One watch, to its end.
        """
        pace, began = self._means.pace, self._now()
        duration = self._duration()
        asked = Asked(f"watch {self.kind.qualified}", path=collection(self.kind, self._version))
        async with self._means.api.stream(
            asked.path,
            self._query(duration),
            silence=pace.silence,
            longest=duration + pace.overdue,
            doing=asked.doing,
        ) as lines:
            await self._follow(lines, asked)
        lasted = timedelta(seconds=self._now() - began)
        if not lines.silent and lasted < duration - SECOND:
            self._discovery.ask()
        await asyncio.sleep(max(pace.rewatch - lasted, timedelta(0)).total_seconds())

    async def _follow(self, lines: Lines, asked: Asked) -> None:
        self._standing.opened()
        self._intake.opened()
        read = 0
        try:
            async for line in lines:
                self._intake.take(read_event(line, self.kind, asked))
                read += 1
                if not read % BURST:
                    await asyncio.sleep(0)
        except KubeError:
            self._discovery.ask()
            self._fruitless = 0 if read else self._fruitless + 1
            raise
        finally:
            self._standing.ended(self._heard if lines.silent else None)

    async def _replace(self, listing: Listing) -> None:
        pace = self._means.pace
        self._fruitless = 0
        await self._intake.replace(listing)
        self._standing.listed()
        until = pace.jittered(pace.relist, self._means.random)
        self._relist_at = self._now() + until.total_seconds()

    async def _recover(self, err: KubeError) -> None:
        """
        An expired version is nothing unusual, if not soon after another; all else waits.
        """
        now, growth = self._now(), self._means.pace.growth
        if isinstance(err, Expired) and now >= self._expirable_at:
            self._intake.position = ""
            self._expirable_at = now + growth.longest.total_seconds()
            return
        self._backoff = self._backoff.failed(now=now, deaf=is_deaf(err))
        if isinstance(err, Unserved):
            await self._wait_until_served()
        else:
            self._standing.blind(err)
            if self._is_doubtful(err):
                self._intake.position = ""
        pause = pause_after(self._backoff, err, self._means.random.random())
        await asyncio.sleep(pause.total_seconds())

    async def _wait_until_served(self) -> None:
        """
        Discovery decides; a server that contradicts itself is asked ever less often.
        """
        self._intake.position = ""
        self._standing.unserved()
        self._discovery.ask()
        await self._discovery.answered()
        if self._discovery.lacks(self.kind):
            self._backoff = Backoff(self._means.pace.growth)

    def _is_doubtful(self, err: KubeError) -> bool:
        if isinstance(err, Expired | Invalid) or self._fruitless >= DISTRUST:
            return True
        answered = err.status > 0 and not isinstance(err, Throttled)
        return answered and self._backoff.failures >= DISTRUST

    def _query(self, duration: timedelta) -> Query:
        query = [
            ("watch", "1"),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", str(int(duration / SECOND))),
            ("labelSelector", self.kind.selector),
            ("fieldSelector", named(self.kind)),
            ("resourceVersion", self._intake.position),
        ]
        return [(name, value) for name, value in query if value]

    def _duration(self) -> timedelta:
        """
        No watch goes on beyond the time of the next list.
        """
        pace = self._means.pace
        left = timedelta(seconds=self._relist_at - self._now())
        return max(min(pace.watch(self._means.random), left), SECOND)

    @property
    def _heard(self) -> datetime | None:
        return self._intake.progress.last_event

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
