"""
The loop that writes while this process leads. A plan knows what is due; all else is the same for all.

Nothing is queued but keys: what is written is rendered at the moment of sending, so that nothing is
sent that could have become wrong. A failed write waits alone.
"""

import asyncio
import logging
import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Container, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from enum import Enum, unique
from typing import Generic, NamedTuple, NoReturn, TypeVar

from reporter.kube.errors import KubeError, Refused, WriteFailure, failure_of
from reporter.kube.leadership import Leadership, run_whenever_leading, write_while_leading
from reporter.kube.write_limits import WriteLimits, WriteRate
from reporter.process.clock import Clock


LEADERSHIP_RECHECK = timedelta(seconds=1)
"""Pause while the lease is neither valid at this moment nor lost."""

PAUSE_AFTER_FAULT = 60.0
"""Seconds until the loop starts again after a fault of this program."""

logger = logging.getLogger(__name__)

Key = TypeVar("Key")
Write = TypeVar("Write")
Result = TypeVar("Result")


@unique
class AfterTry(Enum):
    """The future of a write: DONE forgets its back-off, RETRY lets it wait for a longer one."""

    DONE = "done"
    RETRY = "retry"  # after its back-off, if it is still due then


class DueWrites(NamedTuple, Generic[Key]):
    """
    The writes that wait: when each is due, in the order of importance.

    *deadline*: when to look again, as time alone may change the writes then; None if it cannot.
    """

    waiting: Mapping[Key, datetime]
    deadline: datetime | None = None


class Attempt(NamedTuple, Generic[Key, Write]):
    """One try, rendered *at*. *failures*: the tries in a row that failed before it."""

    key: Key
    write: Write
    failures: int
    at: datetime


class WritePlan(ABC, Generic[Key, Write, Result]):
    """
    The writes of one capability: those that are due, and what became of them.

    *operation*: names a write in texts, before its key. *pause*: seconds between two looks at what is due,
    however often that changes. *fault*: the text that is logged for a fault of this program; if it is
    empty, a fault ends the process.
    """

    operation: str
    rate: WriteRate
    pause = 0.0
    fault = ""

    @abstractmethod
    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call *on_change* whenever something else may be due."""

    async def prepare(self) -> None:
        """
        Wait, at the start of a term of leadership, until something may be written; at once by default.
        """
        return

    @abstractmethod
    async def find_due(self, *, now: datetime) -> DueWrites[Key]:
        """Return the writes that wait as of *now*; one that is in flight may be among them."""

    @abstractmethod
    def render(self, key: Key, *, now: datetime) -> Write | AfterTry:
        """Return the write to send at this moment, or what becomes of it if none is to be sent."""

    @abstractmethod
    def written(self, attempt: Attempt[Key, Write], result: Result) -> AfterTry:
        """Take the result of a write that succeeded; RETRY if it has to be written again."""

    @abstractmethod
    def failed(self, attempt: Attempt[Key, Write], err: KubeError) -> AfterTry:
        """Take the failure of a write; DONE if it is not to be tried again for its own sake."""

    def finished(self, key: Key) -> None:
        """
        Note that the write of a key is no longer in flight, whether it was sent, failed or cancelled.
        """
        return

    def on_fault(self) -> None:
        """Count a fault of this program, after which the loop pauses and begins anew."""
        return

    def stand_down(self) -> None:
        """Forget what only a leader knows: its term is over, or a fault has ended it."""
        return


class LeaderWriter(Generic[Key, Write, Result]):
    """
    Writes what is due, within limits, and only while the lease is valid.

    *write*: sends one write; raises KubeErrors. *jitter* returns random numbers in [0, 1).
    """

    def __init__(
        self,
        plan: WritePlan[Key, Write, Result],
        write: Callable[[Write], Awaitable[Result]],
        leadership: Leadership,
        clock: Clock,
        *,
        jitter: Callable[[], float] = random.random,
        pause_after_fault: float = PAUSE_AFTER_FAULT,
    ) -> None:
        self._plan, self._send, self._leadership, self._clock = plan, write, leadership, clock
        self._pause_after_fault = pause_after_fault
        self._limits: WriteLimits[Key] = WriteLimits(plan.rate, now=clock.now(), jitter=jitter)
        self._changed = asyncio.Event()
        self._faulty = self._fault_is_logged = False
        plan.subscribe(self._changed.set)

    @property
    def is_faulty(self) -> bool:
        """Return whether a fault of this program has kept this leader from writing what is due."""
        return self._faulty and self._leadership.is_leader

    async def run(self) -> NoReturn:
        """
        Write in each term of leadership until cancelled.

        Raises a fault of this program only if the plan has no text for it; otherwise it begins anew
        after a pause.
        """
        await run_whenever_leading(
            self._leadership,
            self._write_due,
            on_fault=self._on_fault,
            stand_down=self._stand_down,
            pause_after_fault=self._pause_after_fault,
        )

    def _on_fault(self, err: Exception) -> None:
        if not self._plan.fault:
            raise err
        if not self._fault_is_logged:
            logger.error(self._plan.fault, exc_info=err)
        self._faulty = self._fault_is_logged = True
        self._plan.on_fault()

    def _stand_down(self) -> None:
        self._plan.stand_down()
        self._limits.forget_backoffs()

    async def _write_due(self) -> NoReturn:
        await self._plan.prepare()
        async with asyncio.TaskGroup() as writes:
            while True:
                await asyncio.sleep(self._plan.pause)
                self._changed.clear()
                wake_at = await self._start_due_writes(writes)
                left = None if wake_at is None else self._clock.seconds_until(wake_at)
                try:
                    async with asyncio.timeout(left):
                        await self._changed.wait()
                except TimeoutError:
                    continue

    async def _start_due_writes(self, writes: asyncio.TaskGroup) -> datetime | None:
        """Start the writes that are due; returns the moment at which to look again."""
        now = self._clock.now()
        if not self._leadership.holds_lease():
            return now + LEADERSHIP_RECHECK
        waiting, deadline = await self._plan.find_due(now=now)
        self._faulty = self._faulty and bool(waiting)
        due, wake_at = self._limits.start_due(waiting, now=now)
        for key in due:
            writes.create_task(self._write(key), name=f"{self._plan.operation} {key}")
        return min(filter(None, (deadline, wake_at)), default=None)

    async def _write(self, key: Key) -> None:
        try:
            now = self._clock.now()
            write = self._plan.render(key, now=now)
            if isinstance(write, AfterTry):
                self._follow(key, write)
            elif self._leadership.holds_lease():
                await self._try_write(Attempt(key, write, self._limits.failures(key), now))
        finally:
            self._limits.finished(key)
            self._plan.finished(key)
            self._changed.set()

    async def _try_write(self, attempt: Attempt[Key, Write]) -> None:
        key, operation = attempt.key, f"{self._plan.operation} {attempt.key}"
        try:
            sending = self._send(attempt.write)
            result = await write_while_leading(self._leadership, sending, operation)
        except KubeError as err:
            self._follow(key, self._plan.failed(attempt, err), err.retry_after)
        else:
            self._faulty = self._fault_is_logged = False
            self._follow(key, self._plan.written(attempt, result))

    def _follow(self, key: Key, after: AfterTry, retry_after: timedelta | None = None) -> None:
        if after is AfterTry.DONE:
            self._limits.succeeded(key)
        else:
            self._limits.failed(key, now=self._clock.now(), retry_after=retry_after)


class WriteFailures(Generic[Key]):
    """
    The keys whose last write failed. Each cause is logged once, until no such key is left.

    *objects*: names in the log what is written, such as "HealthEvents". *quiet*: the failures that are
    logged for debugging only.
    """

    def __init__(self, objects: str, quiet: AbstractSet[WriteFailure]) -> None:
        self._objects, self._quiet = objects, quiet
        self.keys: set[Key] = set()
        self._logged: set[str] = set()

    def add(self, key: Key, err: KubeError, what: str) -> None:
        """
        Note a failed write of *what*, and log its cause unless another write has failed for the same.
        """
        self.keys.add(key)
        failure = failure_of(err)
        cause = f"{failure} {err.missing_permission}" if isinstance(err, Refused) else failure
        if cause in self._logged:
            return
        self._logged.add(cause)
        if failure in self._quiet:
            logger.debug("%s", err)
        elif failure is WriteFailure.INVALID:
            logger.error(
                "%s is not allowed by its CRD, which is of another release, or this program has a"
                " fault: %s",
                what,
                err,
            )
        elif failure is WriteFailure.REFUSED:
            logger.error("%s are not written: %s; it is tried again", self._objects, err)
        else:
            logger.warning("%s; it is tried again", err)

    def remove(self, key: Key) -> None:
        """Forget the failure of a write that succeeded, or is given up."""
        self.keys.discard(key)

    def keep_only(self, waiting: Container[Key]) -> None:
        """Forget the failures of keys that wait no longer; without any left, causes are logged anew."""
        self.keys = {key for key in self.keys if key in waiting}
        if not self.keys:
            self._logged.clear()
