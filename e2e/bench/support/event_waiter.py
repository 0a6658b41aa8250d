"""
When an Event can be read: by one watch that is open all the time.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from e2e.bench.support.plain_client import Json, PlainClient


PATH = "/api/v1/namespaces/kube-system/events"
EVENT_TIMEOUT = 30
"""
Seconds after which an Event is given up.
"""

Awaited: TypeAlias = Callable[[Json], bool]


@dataclass(frozen=True)
class Latencies:
    """
    Seconds from sending a change: until it was answered, until its Event was read.
    """

    answered: float
    read: float


class EventWaiter:
    """
    *run* is a task. One Event is awaited at a time.
    """

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
        """
        The time of the event loop at which the next new Event of this kind came.
        """
        self._awaited = awaited
        self._arrived = asyncio.get_running_loop().create_future()
        return self._arrived


async def await_event(arrival: asyncio.Future[float], what: str) -> float:
    """
    Raises AssertionError when it does not come.
    """
    try:
        async with asyncio.timeout(EVENT_TIMEOUT):
            return await arrival
    except TimeoutError:
        raise AssertionError(f"{what}: no Event within {EVENT_TIMEOUT} s") from None
