"""
The loop around the election: one try, one pause, for ever.

Losing the lead ends nothing: this process stands by and tries again. Leases do not fence, so
whoever writes asks *holds* at that moment, and every write must be harmless when repeated.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from datetime import datetime
from typing import NoReturn, Protocol

from reporter.kube.errors import Conflict, KubeError, NotFound
from reporter.kube.leases import Lease
from reporter.model.leases import LeaseRecord
from reporter.stages.election import (
    Move,
    Sighting,
    Terms,
    claim,
    decide,
    dropped,
    lead_ends,
    next_renewal,
    next_try,
    orphan,
    released,
    sight,
)


logger = logging.getLogger(__name__)


class Book(Protocol):
    """
    Where the Lease is kept; its errors are KubeErrors, and a Lease is the token of its version.
    """

    async def read(self) -> Lease | None: ...

    async def create(self, record: LeaseRecord) -> Lease: ...

    async def update(self, lease: Lease, record: LeaseRecord) -> Lease: ...


class Elector:
    """
    Made inside the event loop, by whose clock a lead is judged; *wall* only dates the record.

    *me* must name this process and no other one, also none before it in the same pod.
    """

    def __init__(
        self,
        book: Book,
        terms: Terms,
        *,
        me: str,
        wall: Callable[[], datetime],
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._book = book
        self._terms = terms
        self._me = me
        self._wall = wall
        self._now = asyncio.get_running_loop().time
        self._draw = draw
        self._lease: Lease | None = None
        self._seen: Sighting | None = None
        self._bid = False
        self._renewed = 0.0
        self._failing = False
        self._up = asyncio.Event()
        self._down = asyncio.Event()
        self._down.set()

    @property
    def leading(self) -> bool:
        return self._up.is_set()

    @property
    def lease(self) -> Lease | None:
        """
        As it was last read or written here, for what else is to be written of it.
        """
        return self._lease

    @property
    def holder(self) -> str:
        """
        Who leads, as far as it was seen; empty if nobody does.
        """
        return self._seen.record.holder if self._seen else ""

    def holds(self) -> bool:
        return self.leading and self._now() < self.ends()

    def ends(self) -> float:
        return lead_ends(self._renewed, self._terms)

    async def acquired(self) -> None:
        await self._up.wait()

    async def lost(self) -> None:
        await self._down.wait()

    async def run(self) -> NoReturn:
        """
        Cancel it to stop, then await *release*.
        """
        while True:
            await self._try()
            await asyncio.sleep(self._next() - self._now())

    async def release(self) -> None:
        """
        Give the lease back, for a successor to take at once. Only after the last write was made.

        Takes half the renew deadline at most, and never raises for a server that does not answer.
        """
        self._lose("stopping", level=logging.INFO)
        if not self._bid:
            return
        try:
            async with asyncio.timeout(self._call_bound):
                while not await self._released():
                    pass
        except (KubeError, TimeoutError) as err:
            logger.warning("lease %s was not released and must run out: %s", self._book, _why(err))

    @property
    def _call_bound(self) -> float:
        """
        Seconds for one call: a hanging one leaves time for another before the deadline.
        """
        return self._terms.renew.total_seconds() / 2

    def _next(self) -> float:
        if self.leading:
            return next_renewal(self._renewed, self._terms, now=self._now())
        return next_try(self._seen, self._terms, now=self._now(), draw=self._draw())

    async def _try(self) -> None:
        self._judge()
        limit = self.ends() if self.leading else None
        try:
            async with asyncio.timeout_at(limit):
                await (self._renew() if self.leading else self._stand())
            self._answered()
        except Conflict as err:
            logger.debug("another was faster: %s", err)
        except (KubeError, TimeoutError) as err:
            self._unanswered(err)
        self._judge()

    async def _renew(self) -> None:
        """
        Without reading first: the version of the last write is enough while nobody else writes.
        """
        try:
            await self._write(Move.RENEW)
        except (Conflict, NotFound):
            await self._stand()

    async def _stand(self) -> None:
        await self._look()
        exists = self._lease is not None
        move = decide(self._seen, self._terms, exists=exists, me=self._me, now=self._now())
        if move is not Move.WAIT:
            await self._write(move)

    async def _look(self) -> None:
        before = self.holder
        async with asyncio.timeout(self._call_bound):
            self._lease = await self._book.read()
        found = self._lease.record if self._lease is not None else None
        if self._seen is not None and dropped(self._seen, found):
            self._seen = orphan(self._seen, self._terms)
        if found is None or dropped(self._seen, found):
            return
        self._seen = sight(self._seen, found, now=self._now())
        if self.holder != self._me:
            self._lose(f"the lease went to {self.holder or 'nobody'}")
        if self.holder not in {before, self._me, ""}:
            logger.info("standing by: %s leads", self.holder)

    async def _write(self, move: Move) -> None:
        begun = self._now()
        previous = self._seen.record if self._seen else None
        record = claim(previous, me=self._me, lease=self._terms.lease, now=self._wall())
        self._bid = True
        async with asyncio.timeout(self._call_bound):
            if move is Move.CREATE or self._lease is None:
                self._lease = await self._book.create(record)
            else:
                self._lease = await self._book.update(self._lease, record)
        self._seen = Sighting(self._lease.record, self._now())
        self._renewed = begun
        if not self.leading and self._now() < lead_ends(begun, self._terms):
            self._win()

    async def _released(self) -> bool:
        """
        One try to give it back; False if someone wrote in between.
        """
        lease = await self._book.read()
        if lease is None or lease.record.holder != self._me:
            return True
        try:
            await self._book.update(lease, released(lease.record, now=self._wall()))
        except Conflict:
            return False
        logger.info("lease %s is released", self._book)
        return True

    def _judge(self) -> None:
        if self.leading and not self.holds():
            deadline = self._terms.renew.total_seconds()
            self._lose(f"no renewal succeeded within {deadline:g} s")

    def _win(self) -> None:
        self._down.clear()
        self._up.set()
        logger.info("leading: %s holds lease %s", self._me, self._book)

    def _lose(self, why: str, *, level: int = logging.WARNING) -> None:
        if self.leading:
            self._up.clear()
            self._down.set()
            logger.log(level, "no longer leading: %s", why)

    def _answered(self) -> None:
        if self._failing:
            self._failing = False
            logger.info("lease %s can be read and written again", self._book)

    def _unanswered(self, err: KubeError | TimeoutError) -> None:
        if not self._failing:
            self._failing = True
            logger.warning("lease %s, trying again: %s", self._book, _why(err))


def _why(err: KubeError | TimeoutError) -> str:
    return str(err) or "no answer in time"
