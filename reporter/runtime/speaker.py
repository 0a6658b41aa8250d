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

from reporter.clock import Clock
from reporter.kube.errors import (
    Conflict,
    Invalid,
    KubeError,
    NotFound,
    Refused,
    Throttled,
    Unreachable,
)
from reporter.model.events import EventRecord
from reporter.model.subjects import Key
from reporter.runtime.controller import Controller
from reporter.runtime.leadership import Leadership
from reporter.runtime.refusals import Refusals
from reporter.stages.judgement import Judgement
from reporter.stages.outcome import Outcome
from reporter.stages.pacer import Bucket, Retry
from reporter.stages.pacing import Due


AT_ONCE = 8
"""
Writes under way at the same time: a hanging one must not delay the others.
"""

UNSURE = timedelta(seconds=1)
"""
Until a lead that does not stand at this moment, and is not lost either, is asked for again.
"""

logger = logging.getLogger(__name__)


class Book(Protocol):
    """
    Where Events are written; its errors are KubeErrors.
    """

    async def create(self, record: EventRecord) -> None: ...

    async def patch(self, record: EventRecord) -> None: ...

    async def read(self, record: EventRecord) -> EventRecord | None: ...

    async def list(self) -> tuple[EventRecord, ...]: ...


class Speaker:
    """
    *wrote* is told the result of every request for an Event, in one word.
    """

    def __init__(
        self,
        controller: Controller,
        book: Book,
        leadership: Leadership,
        clock: Clock,
        *,
        wrote: Callable[[str], None],
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._controller, self._book = controller, book
        self._leadership, self._clock = leadership, clock
        self._wrote, self._draw = wrote, draw
        self._bucket = Bucket(clock.now())
        self._retries: dict[Key, Retry] = {}
        self._refusals = Refusals()
        self._under_way: set[Key] = set()
        self._agenda: dict[Key, Due] = {}
        self._judged: Judgement | None = None
        self._written: set[Key] = set()
        self._done = asyncio.Event()

    async def run(self) -> NoReturn:
        while True:
            await self._leadership.acquired()
            await self._controller.pulse.first.wait()
            speaking = asyncio.create_task(self._speak(), name="speaking")
            lost = asyncio.create_task(self._leadership.lost(), name="waiting for the lead's end")
            try:
                await asyncio.wait({speaking, lost}, return_when=asyncio.FIRST_COMPLETED)
                if speaking.done():
                    speaking.result()
            finally:
                await _end(speaking, lost)
                self._controller.silenced()
                self._retries.clear()

    async def _speak(self) -> NoReturn:
        await self._read_back()
        self._judged = None
        async with asyncio.TaskGroup() as writes:
            while True:
                self._done.clear()
                self._controller.passed.clear()
                wake = self._send(writes)
                await self._wait(wake)

    async def _read_back(self) -> None:
        """
        Until it is known what a predecessor said, nothing is said.
        """
        retry = Retry()
        while True:
            try:
                self._controller.resumed(await self._book.list())
            except KubeError as err:
                if isinstance(err, Refused) and err.missing_right:
                    logger.error(
                        "Events of before may not be read back and are not continued: %s", err
                    )
                    return
                logger.log(_loud_once(retry), "Events of before cannot be read back yet: %s", err)
                retry = self._failed(retry, err)
                await asyncio.sleep((_until(retry) - self._clock.now()).total_seconds())
            else:
                return

    def _send(self, writes: asyncio.TaskGroup) -> datetime | None:
        """
        Begin the writes that are due now; the moment at which to look again.
        """
        now = self._clock.now()
        if not self._leadership.holds():
            return now + UNSURE
        self._fill(now)
        self._plan(now)
        moments: list[datetime] = []
        for due in list(self._agenda.values()):
            if due.key in self._under_way:
                continue
            retry = self._retries.get(due.key)
            at = due.at if retry is None else max(due.at, _until(retry))
            if at > now:
                moments.append(at)
                continue
            if len(self._under_way) >= AT_ONCE:
                break
            if not self._bucket.may:
                return self._bucket.next
            self._bucket = self._bucket.taken()
            self._under_way.add(due.key)
            writes.create_task(self._write(due.key), name=f"write {due.key}")
        return min(moments, default=None)

    def _plan(self, now: datetime) -> None:
        """
        Thought over as a whole after a pass; after a write only what was written, to the end of all.

        What failed keeps its place. What is not due any more begins anew should it come back.
        """
        stage, agenda = self._controller.stage(), self._agenda
        if stage.judged is not self._judged:
            agenda = {due.key: due for due in stage.due(now=now)}
            self._judged = stage.judged
        else:
            for key in self._written:
                due = stage.due_again(key, now=now)
                if due is None or due.at > now:
                    agenda.pop(key, None)
                if due is not None:
                    agenda[key] = due
        self._agenda = agenda
        self._written.clear()
        self._retries = {k: r for k, r in self._retries.items() if k in agenda or _until(r) > now}

    def _fill(self, now: datetime) -> None:
        """
        The first answers of the server may set the clock back, which must not stop the tokens.
        """
        at = min(self._bucket.at, now)
        self._bucket = replace(self._bucket, at=at).filled(now=now)

    async def _wait(self, wake: datetime | None) -> None:
        left = None if wake is None else max((wake - self._clock.now()).total_seconds(), 0.0)
        waits = [
            asyncio.create_task(self._done.wait(), name="a write is done"),
            asyncio.create_task(self._controller.passed.wait(), name="a pass is done"),
        ]
        try:
            await asyncio.wait(waits, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _end(*waits)

    async def _write(self, key: Key) -> None:
        try:
            record = self._controller.stage().compose(key, now=self._clock.now())
            if record is not None and self._leadership.holds():
                await self._try(key, record)
        finally:
            self._under_way.discard(key)
            self._written.add(key)
            self._done.set()

    async def _try(self, key: Key, record: EventRecord) -> None:
        try:
            written = await self._sent_while_leading(record)
        except Invalid as err:
            self._wrote("dropped")
            logger.error("an Event is refused for ever, which is a fault of this program: %s", err)
            self._controller.told(record, Outcome.DROPPED)
        except KubeError as err:
            before = self._retries.get(key, Retry())
            self._retries[key] = self._failed(before, err)
            self._count(record, err, level=_loud_once(before))
            if isinstance(err, Unreachable) and err.arrived:
                self._controller.told(record, Outcome.UNCERTAIN)
        else:
            failed = self._retries.pop(key, Retry()).failures
            if failed:
                logger.info("%s: its Event is written, after %d failed tries", key, failed)
            self._refusals.end(record)
            self._controller.told(written, Outcome.WRITTEN)

    async def _sent_while_leading(self, record: EventRecord) -> EventRecord:
        """
        A process that was paused while it connected must not send when it wakes.
        """
        try:
            # The loop's timers come before what its sockets brought.
            async with asyncio.timeout_at(self._leadership.ends()):
                return await self._sent(record)
        except TimeoutError as err:
            doing = f"write Event of {record.key}"
            raise Unreachable(doing, message="the lead ended under way", arrived=True) from err

    async def _sent(self, record: EventRecord) -> EventRecord:
        """
        Create or patch; what has expired is created anew, what is there already is patched.
        """
        if record.count > 1:
            try:
                await self._book.patch(record)
            except NotFound:
                self._wrote("expired")
                self._hold()
                # Exporters pass over an Event that is new but says it is old.
                record = replace(record, first=record.last)
            else:
                self._wrote("patched")
                return record
        try:
            await self._book.create(record)
        except Conflict:
            return await self._merged(record)
        self._wrote("created")
        return record

    async def _merged(self, record: EventRecord) -> EventRecord:
        """
        A create that arrived although it seemed to fail, or one of another leader.
        """
        there = await self._book.read(record)
        if there is None:
            raise Unreachable(f"create Event of {record.key}", message="it is there and it is not")
        if (there.message, there.told) == (record.message, record.told):
            self._wrote("found")
            return there
        self._hold()
        merged = there.again(record.message, record.told, now=record.last)
        await self._book.patch(merged)
        self._wrote("patched")
        return merged

    def _hold(self) -> None:
        if not self._leadership.holds():
            raise Unreachable("write an Event", message="the lead was lost under way")

    def _failed(self, retry: Retry, err: KubeError) -> Retry:
        asked: timedelta | None = None
        if isinstance(err, Throttled | Unreachable):
            asked = err.retry_after
        return retry.failed(now=self._clock.now(), asked=asked, chance=self._draw())

    def _count(self, record: EventRecord, err: KubeError, *, level: int) -> None:
        match err:
            case Refused():
                self._wrote("refused")
                self._refusals.tell(record, err)
            case Throttled():
                self._wrote("throttled")
                logger.debug("%s", err)
            case Unreachable(arrived=True):
                self._wrote("uncertain")
                logger.log(level, "%s; it is sent again under the same name", err)
            case _:
                self._wrote("failed")
                logger.log(level, "%s; it stays due", err)


def _loud_once(before: Retry) -> int:
    """
    The level for one more failure: only the first of several in a row is news.
    """
    return logging.DEBUG if before.failures else logging.WARNING


def _until(retry: Retry) -> datetime:
    assert retry.until is not None  # noqa: S101  set by every failure
    return retry.until


async def _end(*tasks: "asyncio.Task[object] | asyncio.Task[bool]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
