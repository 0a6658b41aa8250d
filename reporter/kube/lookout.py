"""
The loop around discovery: regularly, at once when someone doubts, again soon after a loss.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol

from reporter.kube.backoff import Backoff, is_deaf, pause_after
from reporter.kube.discovery import Found, discover
from reporter.kube.errors import KubeError
from reporter.kube.means import Means
from reporter.model.kinds import ResourceKind
from reporter.model.observations import Discovery


logger = logging.getLogger(__name__)


class Presences(Protocol):
    """
    Told each answer of discovery, or None and why there was none.

    *doubting*: a loss was seen that a second answer must confirm.
    """

    def discovered(self, answer: Discovery | None, why: str = "", *, now: datetime) -> None: ...

    @property
    def doubting(self) -> bool: ...


class Lookout:
    """
    *wanted*: the resources (``resource.group``) whose presence is followed.
    """

    def __init__(self, means: Means, presences: Presences, wanted: Iterable[str]) -> None:
        self._means = means
        self._presences = presences
        self._groups = frozenset(each.partition(".")[2] for each in wanted)
        self._found: Found | None = None
        self._failure: KubeError | None = None
        self._backoff = Backoff(means.pace.growth)
        self._doubted = asyncio.Event()
        self._answered = asyncio.Event()

    def ask(self) -> None:
        """
        Ask the server soon: something suggests that a resource came or went.
        """
        self._doubted.set()

    async def answered(self) -> None:
        """
        Wait for the next answer, or failure to get one.
        """
        await self._answered.wait()

    def lacks(self, kind: ResourceKind) -> bool:
        """
        Whether the last answer says that the server has this kind in no version that we can read.
        """
        if self._found is None or kind.group not in self._groups:
            return False
        last = self._found.discovery
        readable = set(kind.versions) & set(last.served.get(kind.qualified, ()))
        return kind.group not in last.stale and not readable

    async def run(self) -> None:
        while True:
            self._doubted.clear()
            await self._look()
            self._answered.set()
            self._answered = asyncio.Event()
            await self._pause()

    async def _look(self) -> None:
        before, failure = self._failure, None
        now = self._means.clock.now
        try:
            self._found = await discover(self._means.api, self._groups, before=self._found)
        except KubeError as err:
            failure = err
            at = asyncio.get_running_loop().time()
            self._backoff = self._backoff.failed(now=at, deaf=is_deaf(err))
            self._presences.discovered(None, str(err), now=now())
        else:
            self._backoff = Backoff(self._means.pace.growth)
            self._presences.discovered(self._found.discovery, now=now())
        self._failure = failure
        if failure is not None and before is None:
            logger.warning("which resources are served is not known: %s", failure)
        elif failure is None and before is not None:
            logger.info("which resources are served is known again")

    async def _pause(self) -> None:
        """
        Doubts shorten the pause, but never below *discovery_spacing*.
        """
        spacing = self._means.pace.discovery_spacing
        left = max(self._interval() - spacing, timedelta(0))
        await asyncio.sleep(spacing.total_seconds())
        with suppress(TimeoutError):
            async with asyncio.timeout(left.total_seconds()):
                await self._doubted.wait()

    def _interval(self) -> timedelta:
        pace, random = self._means.pace, self._means.random
        if self._failure is not None:
            return pause_after(self._backoff, self._failure, random.random())
        regular = pace.second_look if self._presences.doubting else pace.discovery
        return pace.jittered(regular, random)
