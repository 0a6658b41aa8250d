"""The discovery task: runs regularly, soon after a request, and soon again to confirm a loss."""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol

from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.backoff import Backoff, is_no_response, least_pause_after, pause_after
from reporter.kube.discovery import CachedDiscovery, discover
from reporter.kube.errors import KubeError, Throttled, Unreachable
from reporter.kube.watch_context import WatchContext
from reporter.model.observations import DiscoveryResult


logger = logging.getLogger(__name__)


class PresenceStore(Protocol):
    """
    The receiver of each result of discovery, or of None and why it failed.

    *has_unconfirmed_loss*: a resource is missing, which a second result must confirm.
    """

    def record_discovery(
        self, answer: DiscoveryResult | None, why: str = "", *, now: datetime
    ) -> None: ...

    @property
    def has_unconfirmed_loss(self) -> bool: ...


class DiscoveryLoop:
    """
    Runs discovery, and records its results in the store.

    *resources*: the resources (``resource.group``) whose presence is tracked.
    """

    def __init__(
        self, context: WatchContext, presences: PresenceStore, resources: Iterable[str]
    ) -> None:
        self._context = context
        self._presences = presences
        self._groups = _groups_of(resources)
        self._last: CachedDiscovery | None = None
        self._failure: KubeError | None = None
        self._backoff = Backoff(context.timing.backoff)
        self._refresh_requested = asyncio.Event()
        self._answered = asyncio.Event()

    def set_resources(self, resources: Iterable[str]) -> None:
        """
        Track the presence of these resources alone; of new ones from an answer that comes soon.
        """
        before, self._groups = self._groups, _groups_of(resources)
        if self._groups - before:
            # The last answer has nothing about the new groups, so its ETag is of no use.
            self._last = None
            self.request_refresh()

    def request_refresh(self) -> None:
        """Run discovery soon, as a resource may have appeared or disappeared."""
        self._refresh_requested.set()

    async def wait_for_answer(self) -> None:
        """Wait until discovery has run once more, with or without success."""
        await self._answered.wait()

    def is_unserved(self, kind: ResourceKind) -> bool:
        """Return whether the server serves this kind in none of the versions that we can read."""
        if self._last is None or kind.group not in self._groups:
            return False
        last = self._last.discovery
        readable = kind.readable_versions(last.served_versions.get(kind.group_resource, ()))
        return kind.group not in last.failed_groups and not readable

    def why_misdeclared(self, kind: ResourceKind) -> str:
        """
        Return why a kind cannot be read as a catalogue declares it; empty if it can, for all that is known.
        """
        if self._last is None or kind.group not in self._groups:
            return ""
        namespaced = self._last.discovery.namespaced.get(kind.group_resource)
        return kind.why_misdeclared(namespaced=namespaced)

    def is_group_failing(self, kind: ResourceKind) -> bool:
        """Return whether the server answered that it cannot discover the kind's API group."""
        return self._last is not None and kind.group in self._last.discovery.failed_groups

    async def run(self) -> None:
        while True:
            self._refresh_requested.clear()
            await self._discover()
            self._answered.set()
            self._answered = asyncio.Event()
            await self._wait_for_next()

    async def _discover(self) -> None:
        before, failure = self._failure, None
        now = self._context.clock.now
        groups = self._groups
        try:
            with self._context.recovery.attempt(self):
                found = await discover(self._context.api, groups, previous=self._last)
        except KubeError as err:
            failure = err
            at = asyncio.get_running_loop().time()
            self._backoff = self._backoff.with_failure(now=at, no_response=is_no_response(err))
            self._presences.record_discovery(None, str(err), now=now())
        else:
            self._backoff = Backoff(self._context.timing.backoff)
            if groups >= self._groups:
                self._last = found
                self._presences.record_discovery(found.discovery, now=now())
        self._failure = failure
        if failure is not None and before is None:
            logger.warning("discovery fails, so the served resources are unknown: %s", failure)
        elif failure is None and before is not None:
            logger.info("discovery works again")

    async def _wait_for_next(self) -> None:
        """
        Pause until the next run; a request shortens that, but not below min_discovery_interval.
        """
        spacing = self._context.timing.min_discovery_interval
        left = max(self._interval() - spacing, timedelta(0))
        await asyncio.sleep(spacing.total_seconds())
        with suppress(TimeoutError):
            async with asyncio.timeout(left.total_seconds()):
                await self._refresh_requested.wait()

    def _interval(self) -> timedelta:
        timing, random = self._context.timing, self._context.random
        if self._failure is not None:
            return self._pause_after(self._failure)
        regular = (
            timing.loss_confirmation_interval
            if self._presences.has_unconfirmed_loss
            else timing.discovery_interval
        )
        return timing.jittered(regular, random)

    def _pause_after(self, failure: KubeError) -> timedelta:
        """
        Return the pause after a failure, which stays short while the server is in trouble.

        Discovery costs it little, and its first answer ends the pauses of all watches.
        """
        random, cap = self._context.random.random(), self._context.timing.backoff.no_response_cap
        pause = pause_after(self._backoff, failure, random)
        if not isinstance(failure, Throttled | Unreachable):
            return pause
        return min(pause, max(cap, least_pause_after(self._backoff, failure, random)))


def _groups_of(resources: Iterable[str]) -> frozenset[str]:
    return frozenset(each.partition(".")[2] for each in resources)
