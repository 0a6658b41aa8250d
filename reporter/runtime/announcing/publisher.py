"""
The loop that writes what is due, while this process leads.

A due write stays due for as long as it is true. Its text is composed at the moment of sending, so
nothing is queued that could have become wrong. A failed write waits alone; others go on.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NoReturn, Protocol

from reporter.kube.wire.errors import (
    Conflict,
    Invalid,
    KubeError,
    NotFound,
    Refused,
    Throttled,
    Unreachable,
)
from reporter.model.event_record import EventRecord
from reporter.model.subjects import FindingKey
from reporter.runtime.announcing.refusals import RefusalLog
from reporter.runtime.clock import Clock
from reporter.runtime.controller import Controller
from reporter.runtime.leaderelection.leadership import Leadership
from reporter.stages.announcing.outcome import WriteOutcome
from reporter.stages.announcing.rate_limit import TokenBucket, WriteBackoff
from reporter.stages.announcing.schedule import PendingWrite
from reporter.stages.evaluation.evaluation import Evaluation


MAX_CONCURRENT_WRITES = 8
"""
Writes under way at the same time: a hanging one must not delay the others.
"""

LEADERSHIP_RECHECK = timedelta(seconds=1)
"""
Until a lead that does not stand at this moment, and is not lost either, is asked for again.
"""

logger = logging.getLogger(__name__)


class EventSink(Protocol):
    """
    Where Events are written; its errors are KubeErrors.
    """

    async def create(self, record: EventRecord) -> None: ...

    async def patch(self, record: EventRecord) -> None: ...

    async def read(self, record: EventRecord) -> EventRecord | None: ...

    async def list(self) -> tuple[EventRecord, ...]: ...


class EventPublisher:
    """
    *wrote* is told the result of every request for an Event, in one word.
    """

    def __init__(
        self,
        controller: Controller,
        book: EventSink,
        leadership: Leadership,
        clock: Clock,
        *,
        count_write: Callable[[str], None],
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._controller, self._sink = controller, book
        self._leadership, self._clock = leadership, clock
        self._count_write, self._jitter = count_write, jitter
        self._bucket = TokenBucket(clock.now())
        self._backoffs: dict[FindingKey, WriteBackoff] = {}
        self._refusal_log = RefusalLog()
        self._in_flight: set[FindingKey] = set()
        self._pending_writes: dict[FindingKey, PendingWrite] = {}
        self._scheduled_evaluation: Evaluation | None = None
        self._finished_keys: set[FindingKey] = set()
        self._write_done = asyncio.Event()

    async def run(self) -> NoReturn:
        while True:
            await self._leadership.wait_acquired()
            await self._controller.pass_times.first_finished.wait()
            speaking = asyncio.create_task(self._publish(), name="speaking")
            lost = asyncio.create_task(
                self._leadership.wait_lost(), name="waiting for the lead's end"
            )
            try:
                await asyncio.wait({speaking, lost}, return_when=asyncio.FIRST_COMPLETED)
                if speaking.done():
                    speaking.result()
            finally:
                await _cancel_all(speaking, lost)
                self._controller.stood_down()
                self._backoffs.clear()

    async def _publish(self) -> NoReturn:
        await self._read_back()
        self._scheduled_evaluation = None
        async with asyncio.TaskGroup() as writes:
            while True:
                self._write_done.clear()
                self._controller.pass_finished.clear()
                wake = self._start_due_writes(writes)
                await self._wait(wake)

    async def _read_back(self) -> None:
        """
        Until it is known what a predecessor said, nothing is said.
        """
        retry = WriteBackoff()
        while True:
            try:
                self._controller.restored(await self._sink.list())
            except KubeError as err:
                if isinstance(err, Refused) and err.missing_permission:
                    logger.error(
                        "Events of before may not be read back and are not continued: %s", err
                    )
                    return
                logger.log(
                    _failure_log_level(retry), "Events of before cannot be read back yet: %s", err
                )
                retry = self._backoff_after(retry, err)
                await asyncio.sleep((_retry_at(retry) - self._clock.now()).total_seconds())
            else:
                return

    def _start_due_writes(self, writes: asyncio.TaskGroup) -> datetime | None:
        """
        Begin the writes that are due now; the moment at which to look again.
        """
        now = self._clock.now()
        if not self._leadership.holds_lease():
            return now + LEADERSHIP_RECHECK
        self._refill_bucket(now)
        self._update_pending_writes(now)
        moments: list[datetime] = []
        for due in list(self._pending_writes.values()):
            if due.key in self._in_flight:
                continue
            retry = self._backoffs.get(due.key)
            at = due.due_at if retry is None else max(due.due_at, _retry_at(retry))
            if at > now:
                moments.append(at)
                continue
            if len(self._in_flight) >= MAX_CONCURRENT_WRITES:
                break
            if not self._bucket.has_token:
                return self._bucket.next_token_at
            self._bucket = self._bucket.with_token_taken()
            self._in_flight.add(due.key)
            writes.create_task(self._write(due.key), name=f"write {due.key}")
        return min(moments, default=None)

    def _update_pending_writes(self, now: datetime) -> None:
        """
        Thought over as a whole after a pass; after a write only what was written, to the end of all.

        What failed keeps its place. What is not due any more begins anew should it come back.
        """
        stage, agenda = self._controller.publish_context(), self._pending_writes
        if stage.evaluation is not self._scheduled_evaluation:
            agenda = {due.key: due for due in stage.pending_writes(now=now)}
            self._scheduled_evaluation = stage.evaluation
        else:
            for key in self._finished_keys:
                due = stage.pending_write(key, now=now)
                if due is None or due.due_at > now:
                    agenda.pop(key, None)
                if due is not None:
                    agenda[key] = due
        self._pending_writes = agenda
        self._finished_keys.clear()
        self._backoffs = {
            k: r for k, r in self._backoffs.items() if k in agenda or _retry_at(r) > now
        }

    def _refill_bucket(self, now: datetime) -> None:
        """
        The first answers of the server may set the clock back, which must not stop the tokens.
        """
        at = min(self._bucket.updated_at, now)
        self._bucket = replace(self._bucket, updated_at=at).refilled(now=now)

    async def _wait(self, wake: datetime | None) -> None:
        left = None if wake is None else max((wake - self._clock.now()).total_seconds(), 0.0)
        waits = [
            asyncio.create_task(self._write_done.wait(), name="a write is done"),
            asyncio.create_task(self._controller.pass_finished.wait(), name="a pass is done"),
        ]
        try:
            await asyncio.wait(waits, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel_all(*waits)

    async def _write(self, key: FindingKey) -> None:
        try:
            record = self._controller.publish_context().compose_event(key, now=self._clock.now())
            if record is not None and self._leadership.holds_lease():
                await self._try_write(key, record)
        finally:
            self._in_flight.discard(key)
            self._finished_keys.add(key)
            self._write_done.set()

    async def _try_write(self, key: FindingKey, record: EventRecord) -> None:
        try:
            written = await self._write_while_leading(record)
        except Invalid as err:
            self._count_write("dropped")
            logger.error("an Event is refused for ever, which is a fault of this program: %s", err)
            self._controller.write_finished(record, WriteOutcome.DROPPED)
        except KubeError as err:
            before = self._backoffs.get(key, WriteBackoff())
            self._backoffs[key] = self._backoff_after(before, err)
            self._count_failure(record, err, level=_failure_log_level(before))
            if isinstance(err, Unreachable) and err.may_have_applied:
                self._controller.write_finished(record, WriteOutcome.UNCERTAIN)
        else:
            failed = self._backoffs.pop(key, WriteBackoff()).failures
            if failed:
                logger.info("%s: its Event is written, after %d failed tries", key, failed)
            self._refusal_log.clear(record)
            self._controller.write_finished(written, WriteOutcome.WRITTEN)

    async def _write_while_leading(self, record: EventRecord) -> EventRecord:
        """
        A process that was paused while it connected must not send when it wakes.
        """
        try:
            # The loop's timers come before what its sockets brought.
            async with asyncio.timeout_at(self._leadership.deadline()):
                return await self._create_or_patch(record)
        except TimeoutError as err:
            doing = f"write Event of {record.key}"
            raise Unreachable(
                doing, message="the lead ended under way", may_have_applied=True
            ) from err

    async def _create_or_patch(self, record: EventRecord) -> EventRecord:
        """
        Create or patch; what has expired is created anew, what is there already is patched.
        """
        if record.count > 1:
            try:
                await self._sink.patch(record)
            except NotFound:
                self._count_write("expired")
                self._ensure_leading()
                # Exporters pass over an Event that is new but says it is old.
                record = replace(record, first_timestamp=record.last_timestamp)
            else:
                self._count_write("patched")
                return record
        try:
            await self._sink.create(record)
        except Conflict:
            return await self._patch_existing(record)
        self._count_write("created")
        return record

    async def _patch_existing(self, record: EventRecord) -> EventRecord:
        """
        A create that arrived although it seemed to fail, or one of another leader.
        """
        there = await self._sink.read(record)
        if there is None:
            raise Unreachable(f"create Event of {record.key}", message="it is there and it is not")
        if (there.message, there.content_digest) == (record.message, record.content_digest):
            self._count_write("found")
            return there
        self._ensure_leading()
        merged = there.rewrite(record.message, record.content_digest, now=record.last_timestamp)
        await self._sink.patch(merged)
        self._count_write("patched")
        return merged

    def _ensure_leading(self) -> None:
        if not self._leadership.holds_lease():
            raise Unreachable("write an Event", message="the lead was lost under way")

    def _backoff_after(self, retry: WriteBackoff, err: KubeError) -> WriteBackoff:
        asked: timedelta | None = None
        if isinstance(err, Throttled | Unreachable):
            asked = err.retry_after
        return retry.with_failure(now=self._clock.now(), retry_after=asked, jitter=self._jitter())

    def _count_failure(self, record: EventRecord, err: KubeError, *, level: int) -> None:
        match err:
            case Refused():
                self._count_write("refused")
                self._refusal_log.log(record, err)
            case Throttled():
                self._count_write("throttled")
                logger.debug("%s", err)
            case Unreachable(may_have_applied=True):
                self._count_write("uncertain")
                logger.log(level, "%s; it is sent again under the same name", err)
            case _:
                self._count_write("failed")
                logger.log(level, "%s; it stays due", err)


def _failure_log_level(before: WriteBackoff) -> int:
    """
    The level for one more failure: only the first of several in a row is news.
    """
    return logging.DEBUG if before.failures else logging.WARNING


def _retry_at(retry: WriteBackoff) -> datetime:
    assert retry.retry_at is not None  # noqa: S101  set by every failure
    return retry.retry_at


async def _cancel_all(*tasks: "asyncio.Task[object] | asyncio.Task[bool]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
