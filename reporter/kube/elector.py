"""
Run the leader election: attempt, pause, and so on for ever.

A process that loses leadership does not exit: it stands by and tries again. A Lease does not prevent
a former leader from writing, so every writer asks ``holds_lease`` right before it writes, and every
write must be harmless when repeated.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from datetime import datetime
from typing import NoReturn, Protocol

from reporter.kube import lease_rules
from reporter.kube.errors import Conflict, KubeError, NotFound
from reporter.kube.leases import Lease


logger = logging.getLogger(__name__)


class ResourceLock(Protocol):
    """
    The store of the Lease. It raises KubeError.

    ``update`` raises Conflict if the Lease was written since *lease* was read.
    """

    async def read(self) -> Lease | None:
        """Return the Lease as the server has it now; None if there is none."""

    async def create(self, record: lease_rules.LeaseRecord) -> Lease:
        """
        Create the Lease with this record and return it. Raises Conflict if another candidate was faster.
        """

    async def update(self, lease: Lease, record: lease_rules.LeaseRecord) -> Lease:
        """Write *record* over *lease* and return the new Lease. Raises NotFound if it was deleted."""


class Elector:
    """
    A candidate of the election. Create it inside the event loop, whose clock measures all durations.

    *identity*: names this process and no other one, not even an earlier one in the same pod.
    *wall_clock*: only dates the record.
    *jitter*: returns a random number in [0, 1), which spreads the polls of followers.
    *lease*: the Lease as this process last read or wrote it.
    """

    def __init__(
        self,
        lock: ResourceLock,
        timing: lease_rules.LeaseTiming,
        *,
        identity: str,
        wall_clock: Callable[[], datetime],
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._lock = lock
        self._timing = timing
        self._identity = identity
        self._wall_clock = wall_clock
        self._now = asyncio.get_running_loop().time
        self._jitter = jitter
        self.lease: Lease | None = None
        self._observed: lease_rules.ObservedRecord | None = None
        self._absence: lease_rules.LeaseAbsence | None = None
        self._has_written = False
        self._renewed_at = 0.0
        self._failing = False
        self._leading = asyncio.Event()
        self._not_leading = asyncio.Event()
        self._not_leading.set()

    @property
    def is_leader(self) -> bool:
        """
        True from the acquisition until the loss is noticed, for display.

        Ask *holds_lease* before a write: a process that was paused past its deadline has not
        noticed yet.
        """
        return self._leading.is_set()

    @property
    def holder(self) -> str:
        """The identity of the leader, as far as it was seen; empty if nobody leads."""
        return self._observed.record.holder if self._observed else ""

    def holds_lease(self) -> bool:
        """Return whether this process leads at this very moment; False from the deadline on."""
        return self.is_leader and self._now() < self.deadline()

    def deadline(self) -> float:
        """
        Return when leadership ends without a renewal, in seconds of the event loop.

        It counts from when the last successful renewal was sent. Before the first one it means
        nothing.
        """
        return lease_rules.leadership_deadline(self._renewed_at, self._timing)

    async def wait_acquired(self) -> None:
        """Return as soon as this process leads; at once if it does."""
        await self._leading.wait()

    async def wait_lost(self) -> None:
        """Return as soon as this process does not lead; at once if it does not."""
        await self._not_leading.wait()

    async def run(self) -> NoReturn:
        """Take part in the election until cancelled. Await ``release`` afterwards."""
        while True:
            await self._attempt()
            await asyncio.sleep(self._next_attempt() - self._now())

    async def release(self) -> None:
        """
        Release the Lease, so that a successor acquires it at once. Call it after the last write.

        It takes half the renew deadline at most, and never raises for a server that does not answer.
        """
        self._stop_leading("stopping", level=logging.INFO)
        if not self._has_written:
            return
        try:
            async with asyncio.timeout(self._call_timeout):
                while not await self._try_release():
                    pass
        except (KubeError, TimeoutError) as err:
            logger.warning(
                "lease %s was not released and must expire: %s", self._lock, _describe_error(err)
            )

    @property
    def _call_timeout(self) -> float:
        """
        The timeout of one call, in seconds. A call that hangs leaves time for another attempt.
        """
        return self._timing.renew_deadline.total_seconds() / 2

    def _next_attempt(self) -> float:
        if self.is_leader:
            return lease_rules.next_renewal(self._renewed_at, self._timing, now=self._now())
        return lease_rules.next_attempt(
            self._observed, self._timing, self._absence, now=self._now(), jitter=self._jitter()
        )

    async def _attempt(self) -> None:
        self._check_deadline()
        limit = self.deadline() if self.is_leader else None
        try:
            async with asyncio.timeout_at(limit):
                await (self._renew() if self.is_leader else self._try_acquire())
            if self._failing:
                self._failing = False
                logger.info("lease %s can be read and written again", self._lock)
        except Conflict as err:
            logger.debug("another candidate wrote the lease first: %s", err)
            self._absence = None
        except (KubeError, TimeoutError) as err:
            if not self._failing:
                self._failing = True
                why = _describe_error(err)
                logger.warning(
                    "lease %s cannot be read or written, trying again: %s", self._lock, why
                )
        self._check_deadline()

    async def _renew(self) -> None:
        """Renew the Lease; read it first only if somebody else wrote it."""
        try:
            await self._write_lease()
        except (Conflict, NotFound):
            await self._try_acquire()

    async def _try_acquire(self) -> None:
        await self._read_lease()
        action = lease_rules.next_action(
            self._observed,
            self._timing,
            absence=self._absence,
            leading=self.is_leader,
            identity=self._identity,
            now=self._now(),
        )
        if action is not lease_rules.LeaseAction.WAIT:
            await self._write_lease()

    async def _read_lease(self) -> None:
        previous_holder = self.holder
        async with asyncio.timeout(self._call_timeout):
            self.lease = await self._lock.read()
        record = self.lease.record if self.lease is not None else None
        # The observation outlives a removed Lease: its holder goes on, and others still wait for it.
        if record is None or lease_rules.is_lease_absent(self._observed, record):
            self._absence = lease_rules.observe_absence(
                self._absence, self._timing, now=self._now()
            )
            return
        self._absence = None
        self._observed = lease_rules.observe_record(self._observed, record, now=self._now())
        if self.holder != self._identity:
            self._stop_leading(f"the lease is held by {self.holder or 'nobody'}")
        if self.holder not in {previous_holder, self._identity, ""}:
            logger.info("standing by: %s leads", self.holder)

    async def _write_lease(self) -> None:
        sent_at = self._now()
        previous = self._observed.record if self._observed else None
        record = lease_rules.make_held_record(
            previous,
            identity=self._identity,
            lease_duration=self._timing.lease_duration,
            now=self._wall_clock(),
        )
        # Set before the call: a write without an answer may have arrived, and is then released.
        self._has_written = True
        async with asyncio.timeout(self._call_timeout):
            if self.lease is None:
                self.lease = await self._lock.create(record)
            else:
                self.lease = await self._lock.update(self.lease, record)
        self._observed = lease_rules.ObservedRecord(self.lease.record, self._now())
        self._absence = None
        self._renewed_at = sent_at
        # A process that was paused during the call may find the answer after its deadline.
        if not self.is_leader and self._now() < self.deadline():
            self._not_leading.clear()
            self._leading.set()
            logger.info("leading: %s holds lease %s", self._identity, self._lock)

    async def _try_release(self) -> bool:
        """Try to release the Lease once; return False if it was written in between."""
        lease = await self._lock.read()
        if lease is None or lease.record.holder != self._identity:
            return True
        try:
            await self._lock.update(
                lease, lease_rules.make_released_record(lease.record, now=self._wall_clock())
            )
        except Conflict:
            return False
        logger.info("lease %s is released", self._lock)
        return True

    def _check_deadline(self) -> None:
        if self.is_leader and not self.holds_lease():
            deadline = self._timing.renew_deadline.total_seconds()
            self._stop_leading(f"no renewal succeeded within {deadline:g} s")

    def _stop_leading(self, why: str, *, level: int = logging.WARNING) -> None:
        if self.is_leader:
            self._leading.clear()
            self._not_leading.set()
            logger.log(level, "no longer leading: %s", why)


def _describe_error(err: KubeError | TimeoutError) -> str:
    return str(err) or "no answer in time"
