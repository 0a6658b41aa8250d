"""
Whether a process that has much to do still answers, and still renews its lease.
"""

import asyncio
import contextlib
import datetime as dt
from typing import NoReturn

import aiohttp

from e2e.bench.session import Session
from e2e.reporter_process import LEASE, ReporterProcess


EVERY = 0.1
RENEWED = 0.5
PATIENCE = 30


class Pulse:
    """
    *slowest*: seconds until /livez answered. *pause*: the longest between two renewals, in seconds.
    *leaders*: how often the lease changed hands. Its two methods are tasks.
    """

    def __init__(self, session: Session, reporter: ReporterProcess) -> None:
        self._session = session
        self._url = f"http://127.0.0.1:{reporter.health_port}/livez"
        self.forget()

    def forget(self) -> None:
        """
        Begin anew.
        """
        self.slowest = self.pause = 0.0
        self.leaders: set[int] = set()

    async def answers(self) -> NoReturn:
        loop, limit = asyncio.get_running_loop(), aiohttp.ClientTimeout(total=PATIENCE)
        async with aiohttp.ClientSession(timeout=limit) as http:
            while True:
                begun = loop.time()
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    async with http.get(self._url) as answer:
                        await answer.read()
                self.slowest = max(self.slowest, loop.time() - begun)
                await asyncio.sleep(EVERY)

    async def renews(self) -> NoReturn:
        last: dt.datetime | None = None
        while True:
            spec = (await self._session.get(LEASE))["spec"]
            renewed = dt.datetime.fromisoformat(spec["renewTime"])
            if last is not None:
                self.pause = max(self.pause, (renewed - last).total_seconds())
            last = renewed
            self.leaders.add(spec["leaseTransitions"])
            await asyncio.sleep(RENEWED)
