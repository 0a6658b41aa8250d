"""
The loop that writes the status of objects of one kind while this process leads.

Nothing is queued but names: what is written is made at the moment of sending.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Container, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Generic, NamedTuple, NoReturn, Protocol, TypeVar

from reporter.announcing.rate_limit import TokenBucket
from reporter.announcing.write_queue import WriteLimits
from reporter.controller.look_schedule import look_interval
from reporter.kinds.objects import NamespacedName
from reporter.kinds.productionstack import StatusObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.errors import (
    Conflict,
    KubeError,
    Refused,
    Throttled,
    Unreachable,
    failure_of,
)
from reporter.kube.leadership import (
    Leadership,
    run_whenever_leading,
    write_while_leading,
)
from reporter.model.object_status import WriteObjectResult
from reporter.process.cancellation import cancel_all
from reporter.process.clock import Clock
from reporter.rollup.wanted import (
    Json,
    change_due_at,
    is_outdated,
    renewal_due_at,
)
from reporter.store.written_objects import WrittenObjectStore


# --------------------------------------------------------------------
# The statuses to write: which start now, and which wait for how long.
#
# Reads no clock and does no I/O. Changes go before renewed times of evaluation.


MAX_CONCURRENT_WRITES = 4


class WriteRate(NamedTuple):
    """The writes a second on average, and at once."""

    per_second: float = 2.0
    burst: float = 20.0


DEFAULT_RATE = WriteRate()


class PendingObject(NamedTuple):
    """
    One object to write; the first in order is the most important.

    *is_renewal*: only its time of evaluation is to be written.
    """

    is_renewal: bool
    due_at: datetime
    name: NamespacedName


class ObjectWrite(NamedTuple):
    """A status to write, whole and as a patch."""

    wanted: Json
    patch: Json


class ObjectQueue(WriteLimits[NamespacedName]):
    """The limits of writes of statuses."""

    def __init__(
        self, *, now: datetime, jitter: Callable[[], float], rate: WriteRate = DEFAULT_RATE
    ) -> None:
        bucket = TokenBucket(now, rate.per_second, rate.burst, rate.burst)
        super().__init__(bucket, max_in_flight=MAX_CONCURRENT_WRITES, jitter=jitter)

    def take_due(
        self, pending: Iterable[PendingObject], *, now: datetime
    ) -> tuple[list[NamespacedName], datetime | None]:
        """
        Return the objects to write now, which are in flight from here on, and when to look again.
        """
        return self.start_due(((each.name, each.due_at) for each in sorted(pending)), now=now)

    def keep_only(self, existing: Mapping[NamespacedName, object]) -> None:
        """Forget the back-offs of objects that are not there any longer."""
        self.keep_backoffs(lambda name, _: name in existing)


# --------------------------------------------------------------------
# The statuses that were written, which decide what is due of an object: a change or a renewal.


class _Written(NamedTuple):
    status: Json | None
    wanted: Json


class WrittenStatuses:
    """
    The last write of each object, with what the API server made of it.

    The CRD of an earlier release drops fields that it does not have. Without this they would be
    written again and again.
    """

    def __init__(self) -> None:
        self._by_name: dict[NamespacedName, _Written] = {}

    def keep_only(self, existing: Container[NamespacedName]) -> None:
        self._by_name = {name: each for name, each in self._by_name.items() if name in existing}

    def add(self, name: NamespacedName, after: StatusObject, wanted: Json) -> bool:
        """Remember what the API server made of a write; return whether it is what was written."""
        self._by_name[name] = _Written(after.status, wanted)
        return not is_outdated(after, wanted)

    def pend(
        self,
        name: NamespacedName,
        found: StatusObject,
        wanted: Json,
        *,
        interval: timedelta,
        evaluated_at: datetime | None,
        now: datetime,
    ) -> PendingObject:
        """
        Return when to write the object. *interval*: between two renewals of its time of evaluation.
        """
        is_done = self._by_name.get(name) == _Written(found.status, wanted)
        if is_outdated(found, wanted) and not is_done:
            return PendingObject(False, change_due_at(found, wanted, now=now), name)
        due_at = renewal_due_at(found, interval, evaluated_at=evaluated_at, now=now)
        return PendingObject(True, due_at, name)


LEADERSHIP_RECHECK = timedelta(seconds=1)
"""Pause while the lease is neither valid at this moment nor lost."""

LOOK_INTERVAL = 0.2
"""Seconds between two looks at all objects, however often the roll-up changes."""

PAUSE_AFTER_FAULT = 60.0
"""Seconds until the loop starts again after a fault of this program."""

PRUNED = "pruned"

logger = logging.getLogger(__name__)


T = TypeVar("T", bound=StatusObject)
T_contra = TypeVar("T_contra", bound=StatusObject, contravariant=True)


class StatusObjectWriter(Protocol[T]):
    """Writes one status; raises KubeErrors."""

    async def patch(self, found: T, patch: Json, *, version: str) -> T: ...


class Looks(Protocol[T_contra]):
    """
    The wanted status of each object.

    *find_pending* returns the objects to write, now or later, and when time alone changes that.
    *make_write* returns what to write now; None if that is not known well enough. *written* gets what
    the API server made of a write, and returns whether it is what was written.
    """

    async def find_pending(
        self, *, now: datetime
    ) -> tuple[list[PendingObject], datetime | None]: ...

    def make_write(
        self, name: NamespacedName, found: T_contra, *, now: datetime
    ) -> ObjectWrite | None: ...

    def written(self, name: NamespacedName, after: T_contra, wanted: Json) -> bool: ...

    async def next_change(self) -> None: ...


class StatusObjectPublisher(Generic[T]):
    """
    Writes the status of the objects that a look finds outdated.

    *count_write* is called with the result of every request to write a status.
    """

    def __init__(  # noqa: PLR0913
        self,
        objects: WrittenObjectStore[T],
        looks: Looks[T],
        writer: StatusObjectWriter[T],
        leadership: Leadership,
        clock: Clock,
        *,
        kind: ResourceKind,
        count_write: Callable[[WriteObjectResult], None],
        rate: WriteRate = DEFAULT_RATE,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._objects, self._looks, self._writer = objects, looks, writer
        self._leadership, self._clock, self._count_write = leadership, clock, count_write
        self._kind = kind
        self._queue = ObjectQueue(now=clock.now(), jitter=jitter, rate=rate)
        self._conflicts: dict[NamespacedName, T] = {}
        self._changed = asyncio.Event()
        self._logged: set[str] = set()
        self._faulty = False
        objects.subscribe(self._changed.set)

    @property
    def failing(self) -> int:
        """
        The number of objects whose last write failed; all of them after a fault of this loop.
        """
        if self._faulty and self._leadership.is_leader:
            return len(self._objects.objects)
        return self._queue.failing

    async def run(self) -> NoReturn:
        await run_whenever_leading(
            self._leadership,
            self._publish,
            on_fault=self._on_fault,
            stand_down=self._queue.forget_backoffs,
            pause_after_fault=PAUSE_AFTER_FAULT,
        )

    def _on_fault(self, err: Exception) -> None:
        if not self._faulty:
            logger.error("status objects cannot be written", exc_info=err)
        self._faulty = True
        self._count_write(WriteObjectResult.FAILED)

    async def _publish(self) -> NoReturn:
        async with asyncio.TaskGroup() as group:
            change = group.create_task(self._looks.next_change())
            while True:
                await asyncio.sleep(LOOK_INTERVAL)  # the task above has begun to wait by then
                self._changed.clear()
                wake_at = await self._start_due_writes(group)
                await self._wait(change, wake_at)
                if change.done():
                    change = group.create_task(self._looks.next_change())

    async def _start_due_writes(self, writes: asyncio.TaskGroup) -> datetime | None:
        """Start the writes that are due; returns the moment at which to look again."""
        now = self._clock.now()
        if not self._leadership.holds_lease():
            return now + LEADERSHIP_RECHECK
        pending, deadline = await self._looks.find_pending(now=now)
        self._end_conflicts()
        self._queue.keep_only(self._objects.objects)
        due, wake_at = self._queue.take_due(pending, now=now)
        for name in due:
            writes.create_task(self._write(name), name=f"write status of {name}")
        return min(filter(None, (deadline, wake_at)), default=None)

    def _end_conflicts(self) -> None:
        """Write again what somebody changed meanwhile, once the watch has shown that change."""
        objects = self._objects.objects
        for name, found in tuple(self._conflicts.items()):
            if objects.get(name) is not found:
                del self._conflicts[name]
                self._queue.succeeded(name)

    async def _wait(self, change: "asyncio.Task[None]", wake_at: datetime | None) -> None:
        left = None if wake_at is None else self._clock.seconds_until(wake_at)
        changed = asyncio.create_task(self._changed.wait(), name="wait for a status object")
        try:
            await asyncio.wait(
                {change, changed}, timeout=left, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            await cancel_all(changed)

    # ------------------------------------------------------------ one write

    async def _write(self, name: NamespacedName) -> None:
        try:
            found = self._objects.objects.get(name)
            version = self._objects.served_version(self._kind)
            if found is not None and version is not None and self._leadership.holds_lease():
                await self._try_write(name, found, version)
        finally:
            self._queue.finished(name)
            self._changed.set()

    async def _try_write(self, name: NamespacedName, found: T, version: str) -> None:
        write = self._looks.make_write(name, found, now=self._clock.now())
        if write is None:
            return
        try:
            patching = self._writer.patch(found, write.patch, version=version)
            operation = f"write status of {name}"
            written = await write_while_leading(self._leadership, patching, operation)
        except KubeError as err:
            self._failed(name, found, err)
        else:
            self._succeeded(name, write.wanted, written)
            self._objects.written(found, written)

    def _succeeded(self, name: NamespacedName, wanted: Json, written: T) -> None:
        self._count_write(WriteObjectResult.WRITTEN)
        self._queue.succeeded(name)
        self._faulty = False
        if not self._queue.failing:
            self._logged &= {PRUNED}
        is_whole = self._looks.written(name, written, wanted)
        if not is_whole and PRUNED not in self._logged:
            self._logged.add(PRUNED)
            logger.warning(
                "the CRD of status objects drops a part of what is written; is it of an earlier"
                " release? The CRD of this one is in the chart"
            )

    def _failed(self, name: NamespacedName, found: T, err: KubeError) -> None:
        result, now = WriteObjectResult(failure_of(err)), self._clock.now()
        self._count_write(result)
        retry_after = err.retry_after if isinstance(err, Throttled | Unreachable) else None
        if isinstance(err, Conflict):
            self._conflicts[name] = found
            self._queue.succeeded(name)  # a conflict is no fault, so the pause does not grow
            retry_after = look_interval(now - (found.metadata.creation_timestamp or now))
        self._queue.failed(name, now=now, retry_after=retry_after)
        cause = f"{result} {err.missing_permission}" if isinstance(err, Refused) else result
        if cause in self._logged:
            return
        self._logged.add(cause)
        match result:
            case WriteObjectResult.CONFLICT | WriteObjectResult.GONE | WriteObjectResult.THROTTLED:
                logger.debug("%s", err)
            case WriteObjectResult.INVALID:
                logger.error(
                    "the status of %s/%s is not allowed by its CRD, which is of another release,"
                    " or this program has a fault: %s",
                    *name,
                    err,
                )
            case WriteObjectResult.REFUSED:
                logger.error("status objects are not written: %s; it is tried again", err)
            case _:
                logger.warning("%s; it is tried again", err)
