"""
The loop that writes pending Events while this process leads.

A pending write stays pending for as long as it is true. Its text is rendered at the moment of
sending, so nothing is queued that could have become wrong. A failed write waits alone.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NoReturn

from reporter.announcing.announcement_state import WriteOutcome
from reporter.announcing.announcements import Announcements
from reporter.announcing.earlier_events import EarlierEvents
from reporter.announcing.event_writer import EventSink, EventWriter
from reporter.announcing.rate_limit import WriteBackoff
from reporter.announcing.refusals import RefusalLog
from reporter.announcing.write_queue import WriteQueue
from reporter.kube.errors import Invalid, KubeError, Refused, Throttled, Unreachable
from reporter.kube.event_record import EventRecord, WriteResult
from reporter.kube.leadership import Leadership, run_while_leading
from reporter.model.subjects import FindingKey
from reporter.process.cancellation import cancel_all
from reporter.process.clock import Clock


LEADERSHIP_RECHECK = timedelta(seconds=1)
"""Pause while the lease is neither valid at this moment nor lost."""

logger = logging.getLogger(__name__)


class EventPublisher:
    """
    Writes what *announcements* says is pending.

    *count_write* is called with the result of every request to write an Event.
    """

    def __init__(
        self,
        announcements: Announcements,
        sink: EventSink,
        leadership: Leadership,
        clock: Clock,
        *,
        count_write: Callable[[WriteResult], None],
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._announcements, self._sink = announcements, sink
        self._leadership, self._clock = leadership, clock
        self._count_write, self._jitter = count_write, jitter
        self._writer = EventWriter(sink, leadership, count_write=count_write)
        self._queue = WriteQueue(now=clock.now(), jitter=jitter)
        self._refusal_log = RefusalLog()
        self._write_done = asyncio.Event()
        self._earlier = EarlierEvents(announcements, sink, clock, jitter=jitter)

    @property
    def waiting_for(self) -> str:
        """Return why a leader announces nothing; empty otherwise."""
        return self._earlier.waiting_for

    async def run(self) -> NoReturn:
        while True:
            await self._leadership.wait_acquired()
            await self._announcements.first_evaluation.wait()
            try:
                await run_while_leading(self._leadership, self._publish())
            finally:
                self._announcements.stood_down()
                self._queue.forget_backoffs()

    async def _publish(self) -> NoReturn:
        await self._read_back()
        await self._announcements.complete.wait()
        self._queue.schedule_anew()
        async with asyncio.TaskGroup() as writes:
            while True:
                self._write_done.clear()
                self._announcements.new_evaluation.clear()
                wake_at = self._start_due_writes(writes)
                await self._wait(wake_at)

    async def _read_back(self) -> None:
        """Restore the episodes of a predecessor; before that is done, nothing is written."""
        found = await self._earlier.read()
        self._announcements.restored(found or ())
        if found is not None:
            self._announcements.events_read()

    def _start_due_writes(self, writes: asyncio.TaskGroup) -> datetime | None:
        """Start the writes that are due; returns the moment at which to look again."""
        now = self._clock.now()
        if not self._leadership.holds_lease():
            return now + LEADERSHIP_RECHECK
        self._queue.update(self._announcements.publish_context(), now=now)
        due, wake_at = self._queue.take_due(now=now)
        for key in due:
            writes.create_task(self._write(key), name=f"write {key}")
        return wake_at

    async def _wait(self, wake_at: datetime | None) -> None:
        left = None if wake_at is None else self._clock.seconds_until(wake_at)
        waits = [
            asyncio.create_task(self._write_done.wait(), name="wait for a write"),
            asyncio.create_task(
                self._announcements.new_evaluation.wait(), name="wait for an evaluation"
            ),
        ]
        try:
            await asyncio.wait(waits, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel_all(*waits)

    # ------------------------------------------------------------ one write

    async def _write(self, key: FindingKey) -> None:
        try:
            context = self._announcements.publish_context()
            record = context.compose_event(key, now=self._clock.now())
            if record is not None and self._leadership.holds_lease():
                await self._try_write(key, record)
        finally:
            self._queue.finished(key)
            self._write_done.set()

    async def _try_write(self, key: FindingKey, record: EventRecord) -> None:
        try:
            written = await self._writer.write(record)
        except Invalid as err:
            self._count_write(WriteResult.DROPPED)
            logger.error("an Event is invalid, which is a bug of this program; dropped: %s", err)
            self._announcements.write_finished(record, WriteOutcome.DROPPED)
        except KubeError as err:
            backoff = self._queue.failed(key, now=self._clock.now(), retry_after=_retry_after(err))
            self._report_failure(record, err, level=_failure_log_level(backoff))
            if isinstance(err, Unreachable) and err.may_have_applied:
                self._announcements.write_finished(record, WriteOutcome.UNCERTAIN)
        else:
            failures = self._queue.succeeded(key)
            if failures:
                logger.info("%s: its Event is written, after %d failed tries", key, failures)
            self._refusal_log.clear(record)
            self._announcements.write_finished(written, WriteOutcome.WRITTEN)

    def _report_failure(self, record: EventRecord, err: KubeError, *, level: int) -> None:
        match err:
            case Refused():
                self._count_write(WriteResult.REFUSED)
                self._refusal_log.log(record, err)
            case Throttled():
                self._count_write(WriteResult.THROTTLED)
                logger.debug("%s", err)
            case Unreachable(may_have_applied=True):
                self._count_write(WriteResult.UNCERTAIN)
                logger.log(level, "%s; it is sent again under the same name", err)
            case _:
                self._count_write(WriteResult.FAILED)
                logger.log(level, "%s; it is tried again", err)


def _retry_after(err: KubeError) -> timedelta | None:
    return err.retry_after if isinstance(err, Throttled | Unreachable) else None


def _failure_log_level(backoff: WriteBackoff) -> int:
    """Return the level for the last failure: only the first of several in a row is a warning."""
    return logging.DEBUG if backoff.failures > 1 else logging.WARNING
