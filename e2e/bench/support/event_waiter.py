"""The time at which an Event can be read, by one open watch."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from e2e.bench.support.plain_client import Json, PlainClient


PATH = "/api/v1/namespaces/kube-system/events"
EVENT_TIMEOUT = 30
"""Seconds to wait for an Event."""

Awaited: TypeAlias = Callable[[Json], bool]


@dataclass(frozen=True)
class Latencies:
    """Seconds from a request to its response, and to its Event."""

    answered: float
    read: float


class EventWaiter:
    """Waits for one Event at a time; `run` must run as a task."""

    def __init__(self, session: PlainClient) -> None:
        self._session = session
        self._awaited: Awaited = lambda _: False
        self._arrived: asyncio.Future[float] | None = None
        self.opened = asyncio.Event()

    async def run(self) -> NoReturn:
        while True:
            version = await self._session.version(PATH)
            self.opened.set()
            async for at, line in self._session.watch(PATH, version):
                if self._arrived is None or self._arrived.done():
                    continue
                change = json.loads(line)
                if change["type"] == "ADDED" and self._awaited(change["object"]):
                    self._arrived.set_result(at)

    def expect(self, awaited: Awaited) -> asyncio.Future[float]:
        """Return a future of the event loop's time at which the next matching Event comes."""
        self._awaited = awaited
        self._arrived = asyncio.get_running_loop().create_future()
        return self._arrived


async def await_event(arrival: asyncio.Future[float], name: str) -> float:
    """Wait for an Event. Raise AssertionError if it does not come in time."""
    try:
        async with asyncio.timeout(EVENT_TIMEOUT):
            return await arrival
    except TimeoutError:
        raise AssertionError(f"{name}: no Event within {EVENT_TIMEOUT} s") from None
