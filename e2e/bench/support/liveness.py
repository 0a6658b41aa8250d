"""The liveness of a busy reporter: latency of /livez and renewals of the Lease."""

import asyncio
import contextlib
import datetime as dt
from typing import NoReturn

import aiohttp

from e2e.bench.support.plain_client import PlainClient
from e2e.support.reporter_process import LEASE, ReporterProcess


POLL_INTERVAL = 0.1
LEASE_POLL_INTERVAL = 0.5
ANSWER_TIMEOUT = 30


class LivenessMonitor:
    """
    Measures a reporter; `poll_livez` and `poll_lease` must run as tasks.

    *slowest* is the slowest response of /livez and *pause* the longest time between two renewals, in
    seconds. *leaders* has the values of leaseTransitions.
    """

    def __init__(self, session: PlainClient, reporter: ReporterProcess) -> None:
        self._session = session
        self._url = f"http://127.0.0.1:{reporter.health_port}/livez"
        self.reset()

    def reset(self) -> None:
        """Forget all measurements."""
        self.slowest = self.pause = 0.0
        self.leaders: set[int] = set()

    async def poll_livez(self) -> NoReturn:
        loop, limit = asyncio.get_running_loop(), aiohttp.ClientTimeout(total=ANSWER_TIMEOUT)
        async with aiohttp.ClientSession(timeout=limit) as http:
            while True:
                begun = loop.time()
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    async with http.get(self._url) as answer:
                        await answer.read()
                self.slowest = max(self.slowest, loop.time() - begun)
                await asyncio.sleep(POLL_INTERVAL)

    async def poll_lease(self) -> NoReturn:
        last: dt.datetime | None = None
        while True:
            spec = (await self._session.get(LEASE))["spec"]
            renewed = dt.datetime.fromisoformat(spec["renewTime"])
            if last is not None:
                self.pause = max(self.pause, (renewed - last).total_seconds())
            last = renewed
            self.leaders.add(spec["leaseTransitions"])
            await asyncio.sleep(LEASE_POLL_INTERVAL)
