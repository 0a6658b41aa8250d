"""
Look again at what blocks a subject, as its watch may have missed a change.

A task of its own: whatever it does or fails to do delays no pass, no Lease and no Event. Every
replica has one, not the leader alone: each has a cache of its own, serves a status made from it, and
may be the leader in a second. The budget is that of one replica.
"""

import asyncio
import logging
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import timedelta
from typing import NoReturn

from reporter.controller import reread_schedule
from reporter.controller.blocking_objects import find_blocking_objects
from reporter.controller.inputs import Inputs
from reporter.controller.reread_contents import Cache, Reading, Undecodable
from reporter.controller.roll_up_cache import RollUpCache
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.backoff import Backoff, is_no_response, pause_after
from reporter.kube.client import RestClient
from reporter.kube.errors import KubeError, Throttled, Unreachable
from reporter.kube.lister import list_one
from reporter.kube.watch_events import UndecodableObject
from reporter.model.verdicts import ObjectRef
from reporter.process.clock import Clock


READ_TIMEOUT = timedelta(seconds=10)
TRACK_INTERVAL = timedelta(seconds=5)
MIN_TRACK_INTERVAL = timedelta(seconds=1)
"""The least time until the next decision, however often the status changes."""

OBJECTS_PER_BATCH = 1000
"""Objects that are found without a pause: some milliseconds."""

RESTART_AFTER = timedelta(minutes=1)

logger = logging.getLogger(__name__)


class SecondLook:
    """
    Compares what blocks a subject with the API server.

    *track_interval*: how often the events of waiting objects are noticed between looks.
    """

    def __init__(
        self,
        api: RestClient,
        inputs: Inputs,
        rollup: RollUpCache,
        clock: Clock,
        *,
        track_interval: timedelta = TRACK_INTERVAL,
    ) -> None:
        self._api, self._inputs, self._rollup, self._clock = api, inputs, rollup, clock
        self._track_interval = track_interval
        self._state = reread_schedule.RereadState()
        self._is_idle = True
        self._backoff = Backoff()

    async def run(self) -> NoReturn:
        """
        Look until cancelled. A fault is logged, and a minute later it begins anew with nothing known.
        """
        while True:
            try:
                await self._look_on()
            except Exception:
                logger.exception(
                    "the second look failed; it begins anew in %.0f s",
                    RESTART_AFTER.total_seconds(),
                )
            self._state = reread_schedule.RereadState()
            await asyncio.sleep(RESTART_AFTER.total_seconds())

    async def _look_on(self) -> NoReturn:
        while True:
            look = await self._plan()
            if look is None or look.at > self._clock.now():
                await self._wait(look)
            else:
                await self._look(look.ref)

    async def _plan(self) -> reread_schedule.ScheduledRead | None:
        rollup = self._rollup.rollup
        blocking = await _collect(find_blocking_objects(rollup))
        self._is_idle = not blocking and rollup is self._rollup.rollup
        if not blocking:
            self._state = reread_schedule.track_nothing(self._state)
            return None
        now = self._clock.now()
        self._state = reread_schedule.track(self._state, blocking, self._cache(), now=now)
        return reread_schedule.next_read(self._state, now=now)

    def _cache(self) -> Cache:
        store = self._inputs.store
        return Cache(store.kinds, store.snapshot())

    async def _wait(self, look: reread_schedule.ScheduledRead | None) -> None:
        """Wait for the time of a look, for a change of the status, or for events to be noticed."""
        if self._is_idle:
            await self._rollup.next_change()
            await asyncio.sleep(MIN_TRACK_INTERVAL.total_seconds())
            return
        left = self._track_interval
        if look is not None:
            left = min(left, look.at - self._clock.now())
        soonest = max(min(left, MIN_TRACK_INTERVAL), timedelta(0))
        await asyncio.sleep(soonest.total_seconds())
        with suppress(TimeoutError):
            async with asyncio.timeout((left - soonest).total_seconds()):
                await self._rollup.next_change()

    async def _look(self, ref: ObjectRef) -> None:
        self._state = reread_schedule.begin_read(self._state, ref, now=self._clock.now())
        kind = self._cache().kind_of(ref)
        version = self._inputs.store.served_version(kind) if kind is not None else None
        if kind is None or version is None:
            return
        try:
            read = await self._read(kind, version, ref)
        except KubeError as err:
            logger.debug("second look at %s %s: %s", kind.kind, ref.name, err)
            if isinstance(err, Throttled | Unreachable):
                await self._pause_after(err)
            return
        self._compare(kind, ref, read)

    async def _read(self, kind: ResourceKind, version: str, ref: ObjectRef) -> Reading:
        name = (ref.namespace, ref.name)
        answer = await list_one(self._api, kind, version, name, timeout=READ_TIMEOUT)
        if isinstance(answer.found, UndecodableObject):
            return Reading(Undecodable.UNDECODABLE, answer.resource_version)
        return Reading(answer.found, answer.resource_version)

    def _compare(self, kind: ResourceKind, ref: ObjectRef, read: Reading) -> None:
        cache = self._cache()
        if cache.kind_of(ref) is not kind:  # its watch is not open, or is another one
            return
        watch = self._inputs.watch_progress(kind)
        cached, now = cache.content(kind, ref), self._clock.now()
        self._state, missed = reread_schedule.finish_read(
            self._state, ref, read, cached, watch, now=now
        )
        name = "/".join(part for part in (ref.namespace, ref.name) if part)
        finding = "as watched" if read.content == cached else "differs from what was watched"
        logger.debug("second look at %s %s: %s", kind.kind, name, finding)
        if missed:
            logger.warning(
                "the watch of %s has missed a change of %s %s, or delays it: listing them anew",
                kind.group_resource,
                kind.kind,
                name,
            )
            self._inputs.report_missed_event(kind)

    async def _pause_after(self, err: KubeError) -> None:
        """
        Wait as the API server asks, or longer with each failure.

        A refusal is not waited for: it may be about one object, and delays no look at others.
        """
        now = asyncio.get_running_loop().time()
        self._backoff = self._backoff.with_failure(now=now, no_response=is_no_response(err))
        pause = pause_after(self._backoff, err, random=0.0)
        await asyncio.sleep(pause.total_seconds())


async def _collect(refs: Iterable[ObjectRef]) -> AbstractSet[ObjectRef]:
    """Return these objects; other tasks run meanwhile."""
    found: set[ObjectRef] = set()
    for number, ref in enumerate(refs, start=1):
        found.add(ref)
        if not number % OBJECTS_PER_BATCH:
            await asyncio.sleep(0)
    return found
