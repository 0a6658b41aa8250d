"""
The loop that writes each Event about an InferenceSet a second time, beside the InferenceSet.

It runs while this process leads, and follows the Events in kube-system. None of those waits for
it, whether its writes succeed or not.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from itertools import chain
from typing import NoReturn, TypeAlias

from reporter.announcing.announcements import Announcements
from reporter.announcing.event_writer import EventSink, EventWriter
from reporter.announcing.mirror_plan import (
    contradicts_ready,
    is_mirror_true,
    may_become_true,
    mirror_subjects,
    mirrored,
)
from reporter.announcing.rate_limit import TokenBucket
from reporter.announcing.refusals import RefusalLog
from reporter.announcing.schedule import PublishContext
from reporter.announcing.write_queue import WriteLimits
from reporter.kube.errors import Invalid, KubeError, Refused, Throttled, Unreachable
from reporter.kube.event_record import EventRecord, WriteResult
from reporter.kube.leadership import Leadership, run_whenever_leading
from reporter.model.enums import EventType
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import InvolvedObject
from reporter.process.clock import Clock


MAX_CONCURRENT_WRITES = 4
LEADERSHIP_RECHECK = timedelta(seconds=1)
"""Pause while the lease is neither valid at this moment nor lost."""

PAUSE_AFTER_FAULT = 60.0
"""Seconds until the loop starts again after a fault of this program."""

MirrorKey: TypeAlias = tuple[FindingKey, Subject]
"""The Event, and the InferenceSet beside which it is written."""

logger = logging.getLogger(__name__)


class EventMirror:
    """
    Writes each Event about an InferenceSet beside it.

    *involved_for* returns the InferenceSet of a subject as involvedObject, None if it is not known.

    *count_write* is called with the result of every request.
    """

    def __init__(  # noqa: PLR0913
        self,
        announcements: Announcements,
        sink: EventSink,
        leadership: Leadership,
        clock: Clock,
        *,
        involved_for: Callable[[Subject], InvolvedObject | None],
        count_write: Callable[[WriteResult], None],
        jitter: Callable[[], float] = random.random,
        pause_after_fault: float = PAUSE_AFTER_FAULT,
    ) -> None:
        self._announcements, self._leadership, self._clock = announcements, leadership, clock
        self._pause_after_fault = pause_after_fault
        self._involved_for, self._count_write = involved_for, count_write
        self._writer = EventWriter(sink, leadership, count_write=count_write)
        self._limits: WriteLimits[MirrorKey] = WriteLimits(
            TokenBucket(clock.now()), max_in_flight=MAX_CONCURRENT_WRITES, jitter=jitter
        )
        self._refusal_log = RefusalLog()
        self._first: dict[MirrorKey, EventRecord] = {}
        self._repeats: dict[MirrorKey, EventRecord] = {}
        self._changed = asyncio.Event()
        self._faulty = False
        announcements.on_written(self._follow)

    def _follow(self, record: EventRecord) -> None:
        """Take an Event that was written. A newer one of the same key replaces one that waits."""
        context = self._announcements.publish_context()
        subjects = mirror_subjects(record, context)
        if contradicts_ready(record, context):
            self._forget_ready(subjects)
        for subject in subjects:
            key = (record.key, subject)
            if record.count == 1 or key in self._first:
                self._first[key] = record
                self._repeats.pop(key, None)
            else:
                self._repeats[key] = record
        self._changed.set()

    def _forget_ready(self, subjects: Collection[Subject]) -> None:
        for waiting in (self._first, self._repeats):
            for key, record in [*waiting.items()]:
                if key[1] in subjects and record.type is EventType.NORMAL:
                    self._done(key, record)

    async def run(self) -> NoReturn:
        # What is announced during the pause after a fault waits, and is written afterwards.
        await run_whenever_leading(
            self._leadership,
            self._write_pending,
            on_fault=self._on_fault,
            stand_down=self._stand_down,
            pause_after_fault=self._pause_after_fault,
        )

    def _on_fault(self, err: Exception) -> None:
        if not self._faulty:
            logger.error("Events cannot be written beside their InferenceSets", exc_info=err)
        self._faulty = True

    def _stand_down(self) -> None:
        self._first.clear()
        self._repeats.clear()
        self._limits.forget_backoffs()

    async def _write_pending(self) -> NoReturn:
        async with asyncio.TaskGroup() as writes:
            while True:
                self._changed.clear()
                wake_at = self._start_due_writes(writes)
                left = None if wake_at is None else self._clock.seconds_until(wake_at)
                try:
                    async with asyncio.timeout(left):
                        await self._changed.wait()
                except TimeoutError:
                    continue

    def _start_due_writes(self, writes: asyncio.TaskGroup) -> datetime | None:
        """Start the writes that are due; returns the moment at which to look again."""
        now = self._clock.now()
        if not self._leadership.holds_lease():
            return now + LEADERSHIP_RECHECK
        waiting = ((key, now) for key in chain(self._first, self._repeats))
        due, wake_at = self._limits.start_due(waiting, now=now)
        for key in due:
            writes.create_task(self._write(key), name=f"mirror {key[0]} to {key[1]}")
        return wake_at

    # ------------------------------------------------------------ one write

    async def _write(self, key: MirrorKey) -> None:
        record = self._first.get(key) or self._repeats.get(key)
        try:
            involved = self._involved_for(key[1])
            context = self._announcements.publish_context()
            if record is None or involved is None:
                self._done(key, record)
            elif not is_mirror_true(record, key[1], context):
                self._put_off(key, record, context)
            elif self._leadership.holds_lease():
                await self._try_write(key, record, mirrored(record, involved))
        finally:
            self._limits.finished(key)
            self._changed.set()

    async def _try_write(self, key: MirrorKey, record: EventRecord, mirror: EventRecord) -> None:
        try:
            await self._writer.write(mirror)
        except Invalid as err:
            self._count_write(WriteResult.DROPPED)
            logger.error("an Event is invalid, which is a bug of this program; dropped: %s", err)
            self._done(key, record)
        except KubeError as err:
            asked = err.retry_after if isinstance(err, Throttled | Unreachable) else None
            self._limits.failed(key, now=self._clock.now(), retry_after=asked)
            self._report_failure(mirror, err)
        else:
            self._faulty = False
            self._refusal_log.clear(mirror)
            self._done(key, record)

    def _put_off(self, key: MirrorKey, record: EventRecord, context: PublishContext) -> None:
        """Look again later if a write may become true, and forget it otherwise."""
        if may_become_true(record, key[1], context):
            self._limits.failed(key, now=self._clock.now())
        else:
            self._done(key, record)

    def _done(self, key: MirrorKey, record: EventRecord | None) -> None:
        """Forget a write, unless a newer Event of the key waits by now."""
        self._limits.succeeded(key)
        for waiting in (self._first, self._repeats):
            if waiting.get(key) is record:
                waiting.pop(key, None)

    def _report_failure(self, mirror: EventRecord, err: KubeError) -> None:
        match err:
            case Refused():
                self._count_write(WriteResult.REFUSED)
                self._refusal_log.log(mirror, err)
            case Throttled():
                self._count_write(WriteResult.THROTTLED)
            case Unreachable(may_have_applied=True):
                self._count_write(WriteResult.UNCERTAIN)
            case _:
                self._count_write(WriteResult.FAILED)
        logger.debug("%s; it is tried again", err)
