"""
The loop that creates, resolves and deletes HealthEvents while this process leads.

It only follows the episodes: no Event waits for it, whatever becomes of its writes.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import NoReturn, Protocol

from reporter.announcing.announcements import Announcements
from reporter.history.plan import Plan
from reporter.history.planner import HeldObjects, StorePlanner, StoreQueue, name_of, writes_of
from reporter.history.writer import StoreWriter, Write
from reporter.history.writes import Create
from reporter.kinds.health_events import StoreLimit, StoreWriteResult
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.errors import KubeError, Refused, failure_of
from reporter.kube.leadership import (
    Leadership,
    run_whenever_leading,
    write_while_leading,
)
from reporter.model.observations import Watching
from reporter.process.clock import Clock


LEADERSHIP_RECHECK = timedelta(seconds=1)
"""Pause while the lease is neither valid at this moment nor lost."""

PLAN_INTERVAL = 0.5
"""Seconds between two plans, however often episodes and objects change."""

PAUSE_AFTER_FAULT = 60.0
"""Seconds until the loop starts again after a fault of this program."""

logger = logging.getLogger(__name__)


class StoreReport(Protocol):
    """Shows the state of the store to others."""

    def count_store_write(self, result: StoreWriteResult) -> None: ...

    def count_rejected(self, limit: StoreLimit) -> None: ...


class HealthEventPublisher:
    """
    Writes the HealthEvents that are planned.

    *on_rejections* is called when the objects change that the limits have no place for.
    """

    def __init__(  # noqa: PLR0913
        self,
        objects: HeldObjects,
        announcements: Announcements,
        planner: StorePlanner,
        writer: StoreWriter,
        leadership: Leadership,
        clock: Clock,
        *,
        kind: ResourceKind,
        report: StoreReport,
        on_rejections: Callable[[Mapping[str, StoreLimit]], None] = lambda _: None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._objects, self._planner, self._writer = objects, planner, writer
        self._leadership, self._clock, self._kind = leadership, clock, kind
        self._report, self._on_rejections = report, on_rejections
        self._queue = StoreQueue(now=clock.now(), jitter=jitter)
        self._creating: dict[str, str] = {}
        self._failing: set[str] = set()
        self._rejected: dict[str, StoreLimit] = {}
        self._logged: set[str] = set()
        self._faulty = False
        self._changed = asyncio.Event()
        objects.subscribe(self._changed.set)
        announcements.add_follower(self._changed.set)

    @property
    def is_up(self) -> bool:
        """Return whether the objects are watched, and no write of this process has failed last."""
        return isinstance(self._objects.watch_state, Watching) and not (
            self._failing or self._faulty
        )

    async def run(self) -> NoReturn:
        await run_whenever_leading(
            self._leadership,
            self._publish,
            on_fault=self._on_fault,
            stand_down=self._stand_down,
            pause_after_fault=PAUSE_AFTER_FAULT,
        )

    def _stand_down(self) -> None:
        self._planner.forget()
        self._queue.forget_backoffs()
        self._creating.clear()
        self._failing.clear()
        self._note_rejections({})

    def _on_fault(self, err: Exception) -> None:
        if not self._faulty:
            logger.error("HealthEvents cannot be written", exc_info=err)
        self._faulty = True
        self._report.count_store_write(StoreWriteResult.FAILED)

    async def _publish(self) -> NoReturn:
        async with asyncio.TaskGroup() as writes:
            while True:
                await asyncio.sleep(PLAN_INTERVAL)
                self._changed.clear()
                await self._wait(self._start_due_writes(writes))

    async def _wait(self, wake_at: datetime | None) -> None:
        left = None if wake_at is None else self._clock.seconds_until(wake_at)
        try:
            async with asyncio.timeout(left):
                await self._changed.wait()
        except TimeoutError:
            return

    def _start_due_writes(self, writes: asyncio.TaskGroup) -> datetime | None:
        """Start the writes that are due; returns the moment at which to look again."""
        now = self._clock.now()
        if not self._leadership.holds_lease():
            return now + LEADERSHIP_RECHECK
        plan = self._planner.plan(self._creating, now=now)
        if plan is None:
            return None
        due, wake_at = self._queue.take(plan, now=now)
        self._follow(plan)
        for write in due:
            if isinstance(write, Create):
                self._creating[write.name] = write.node
            writes.create_task(self._write(write), name=f"write HealthEvent {name_of(write)}")
        return min(filter(None, (plan.deadline, wake_at)), default=None)

    def _follow(self, plan: Plan) -> None:
        pending = writes_of(plan).keys()
        self._failing &= pending
        self._faulty = self._faulty and bool(pending)
        if not self._failing:
            self._logged.clear()
        self._note_rejections({each.name: each.limit for each in plan.rejections})

    def _note_rejections(self, rejected: dict[str, StoreLimit]) -> None:
        """Count what the limits have no place for, once until it has one."""
        for name in rejected.keys() - self._rejected.keys():
            self._report.count_rejected(rejected[name])
        if rejected != self._rejected:
            self._rejected = rejected
            self._on_rejections(rejected)

    # ------------------------------------------------------------ one write

    async def _write(self, write: Write) -> None:
        name = name_of(write)
        try:
            version = self._objects.served_version(self._kind)
            if version is not None and self._leadership.holds_lease():
                await self._try_write(name, write, version)
        finally:
            self._creating.pop(name, None)
            self._queue.finished(name)
            self._changed.set()

    async def _try_write(self, name: str, write: Write, version: str) -> None:
        try:
            writing = self._writer.write(write, version)
            operation = f"write HealthEvent {name}"
            result = await write_while_leading(self._leadership, writing, operation)
        except KubeError as err:
            self._failed(name, err)
        else:
            self._report.count_store_write(result)
            self._failing.discard(name)
            self._faulty = False
            if result is StoreWriteResult.FOUND:
                self._queue.write_failed(name, None, now=self._clock.now())
            else:
                self._queue.succeeded(name)

    def _failed(self, name: str, err: KubeError) -> None:
        result = StoreWriteResult(failure_of(err))
        self._report.count_store_write(result)
        self._queue.write_failed(name, err, now=self._clock.now())
        if result is not StoreWriteResult.CONFLICT:
            self._failing.add(name)
        cause = f"{result} {err.missing_permission}" if isinstance(err, Refused) else result
        if cause in self._logged:
            return
        self._logged.add(cause)
        match result:
            case StoreWriteResult.CONFLICT | StoreWriteResult.THROTTLED:
                logger.debug("%s", err)
            case StoreWriteResult.INVALID:
                logger.error(
                    "a HealthEvent is not allowed by its CRD, which is of another release, or this"
                    " program has a fault: %s",
                    err,
                )
            case StoreWriteResult.REFUSED:
                logger.error("HealthEvents are not written: %s; it is tried again", err)
            case _:
                logger.warning("%s; it is tried again", err)
