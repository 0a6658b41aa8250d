"""
The durations of list, watch and discovery, and the parts that discovery, reflectors and the scraper share.

One of them is the moment at which the API server answers again, which ends the pauses of all that wait.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from random import Random
from typing import Protocol

from msgspec import Struct, field

from reporter.kube.backoff import BackoffParameters
from reporter.kube.client import RestClient
from reporter.kube.errors import KubeError
from reporter.model.observations import WATCH_LOSS_TOLERANCE


class WatchTiming(Struct, frozen=True):
    """
    The durations of lists, watches and discovery.

    The defaults are those of client-go's reflector (tools/cache/reflector.go) where it has one.

    *min_watch_timeout*, *max_watch_timeout*: the bounds of the timeoutSeconds of a watch.
    *relist_interval*: the time after which a kind is listed anew.

    *rewatch_interval*: the least time between the starts of two watches.
    *idle_timeout*: the time without any event after which a watch is opened anew, as its peer may
    be dead; API servers send a bookmark about once a minute.
    *list_timeout*: for a list, or one page of it.
    *stale_after*: the time without a watch after which a list is needed.
    *backlog_quiet*, *backlog_limit*: how long the first events of a watch are held back, see `Backlog`.
    *watch_timeout_grace*: how much longer than its timeoutSeconds we wait for a watch to end.
    *loss_confirmation_interval*: until discovery confirms that a resource is missing.
    *jitter*: the share by which regular intervals vary.
    """

    backoff: BackoffParameters = field(default_factory=BackoffParameters)
    rewatch_interval: timedelta = timedelta(seconds=1)
    idle_timeout: timedelta = timedelta(seconds=90)
    list_timeout: timedelta = timedelta(seconds=60)
    min_watch_timeout: timedelta = timedelta(minutes=5)
    max_watch_timeout: timedelta = timedelta(minutes=10)
    stale_after: timedelta = WATCH_LOSS_TOLERANCE
    backlog_quiet: timedelta = timedelta(seconds=0.2)
    backlog_limit: timedelta = timedelta(seconds=2)
    watch_timeout_grace: timedelta = timedelta(seconds=30)
    relist_interval: timedelta = timedelta(minutes=30)
    discovery_interval: timedelta = timedelta(seconds=30)
    loss_confirmation_interval: timedelta = timedelta(seconds=11)
    min_discovery_interval: timedelta = timedelta(seconds=1)
    jitter: float = 0.05

    def watch_timeout(self, random: Random) -> timedelta:
        """
        Return a random timeoutSeconds, so that the watches of many clients do not end together.
        """
        return (
            self.min_watch_timeout
            + (self.max_watch_timeout - self.min_watch_timeout) * random.random()
        )

    def jittered(self, interval: timedelta, random: Random) -> timedelta:
        """Return the interval, changed by up to the share *jitter*, so that not all act in step."""
        return interval * random.uniform(1 - self.jitter, 1 + self.jitter)


class Recovery:
    """
    Lets what failed together go on together: alone, each kind would wait for its own pause.

    Only the first success after a failure of the same request counts. So a kind that goes on failing
    while the others work keeps its pauses.
    """

    def __init__(self) -> None:
        self._failing: set[object] = set()
        self._answered = asyncio.Event()

    @contextmanager
    def attempt(self, request: object) -> Iterator[None]:
        """Note whether a request fails, and end all pauses when it succeeds after that."""
        try:
            yield
        except KubeError:
            self._failing.add(request)
            raise
        if request in self._failing:
            self._failing.remove(request)
            self._answered.set()
            self._answered = asyncio.Event()

    async def wait(self, pause: timedelta, *, at_least: timedelta) -> bool:
        """Wait for the whole *pause*, or until a request has recovered. Return whether one has."""
        answered, soonest = self._answered, min(at_least, pause)
        await asyncio.sleep(soonest.total_seconds())
        with suppress(TimeoutError):
            async with asyncio.timeout((pause - soonest).total_seconds()):
                await answered.wait()
        return answered.is_set()


class PassiveClock(Protocol):
    """The time in UTC, for parts that read it and never correct it."""

    def now(self) -> datetime:
        """Return the present time, with the zone UTC."""


class WatchContext(Struct, frozen=True):
    """
    Everything that watches share.

    *random* adds jitter to pauses, so that replicas and kinds do not act in step.
    """

    api: RestClient
    clock: PassiveClock
    timing: WatchTiming = field(default_factory=WatchTiming)
    random: Random = field(default_factory=Random)
    recovery: Recovery = field(default_factory=Recovery)
