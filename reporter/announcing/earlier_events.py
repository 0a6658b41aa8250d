"""
Read the Events that are in the cluster already: by each replica at its start, by a leader at each term.

A replica that never leads serves a status as well, and must not call Current what is announced.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import suppress

from reporter.announcing.announcements import Announcements
from reporter.announcing.event_writer import EventSink
from reporter.kube.errors import KubeError, Refused
from reporter.kube.event_record import EventRecord
from reporter.kube.write_limits import WriteBackoff
from reporter.process.clock import Clock


STORED_WAIT = 5.0
"""Seconds for which the first list of HealthEvents is waited for."""

REFUSED_PAUSE = 300.0
"""Seconds after which a replica tries again what its permissions do not allow."""

NOT_READ = "Earlier Events have not been read yet"

logger = logging.getLogger(__name__)


class EarlierEvents:
    """
    Reads the Events that earlier processes wrote, and tries again until it may.

    *waiting_for*: why they cannot be read at the moment; empty otherwise.
    """

    def __init__(
        self,
        announcements: Announcements,
        sink: EventSink,
        clock: Clock,
        *,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._announcements, self._sink = announcements, sink
        self._clock, self._jitter = clock, jitter
        self._is_refused = False
        self.waiting_for = ""

    async def remember(self) -> None:
        """
        Read earlier Events once at the start, whether this process leads or not.

        Until then an episode may run that is not known, so no subject is shown as Current.
        """
        found = await self.read()
        while found is None:
            await asyncio.sleep(REFUSED_PAUSE)
            found = await self.read()
        self._announcements.remember(found)

    async def read(self) -> tuple[EventRecord, ...] | None:
        """
        Return earlier Events once they can be read; None as soon as the permission for it is missing.
        """
        await self._wait_for_stored()
        try:
            return await self._read_until_done()
        finally:
            self.waiting_for = ""

    async def _wait_for_stored(self) -> None:
        """Wait for the first list of HealthEvents, but not for one that fails."""
        announcements = self._announcements
        with suppress(TimeoutError):
            async with asyncio.timeout(STORED_WAIT):
                while announcements.stored is None:
                    announcements.stored_changed.clear()
                    await announcements.stored_changed.wait()

    async def _read_until_done(self) -> tuple[EventRecord, ...] | None:
        backoff, announcements = WriteBackoff(), self._announcements
        while True:
            try:
                return await self._sink.list(announcements.possible_keys())
            except KubeError as err:
                if announcements.unread_events:
                    announcements.events_read(why_not=f"{NOT_READ}: {err}")
                if isinstance(err, Refused) and err.missing_permission:
                    logger.log(
                        logging.DEBUG if self._is_refused else logging.ERROR,
                        "Earlier Events may not be read, so they are not continued: %s",
                        err,
                    )
                    self._is_refused = True
                    return None
                backoff = await self._wait_after(err, backoff)

    async def _wait_after(self, err: KubeError, backoff: WriteBackoff) -> WriteBackoff:
        """Wait after they could not be read; return the new backoff."""
        now = self._clock.now()
        backoff = backoff.with_failure(now=now, retry_after=err.retry_after, jitter=self._jitter())
        logger.log(
            # Only the first of several in a row is a warning.
            logging.DEBUG if backoff.failures > 1 else logging.WARNING,
            "Earlier Events cannot be read back yet; trying again: %s",
            err,
        )
        pause = (backoff.retry_at - now).total_seconds()
        self.waiting_for = f"earlier Events, which are read again after {pause:.0f} s: {err}"
        await asyncio.sleep(pause)
        return backoff
