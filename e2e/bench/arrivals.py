"""
When an Event can be read: by one watch that is open all the time.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from e2e.bench.session import Json, Session


PATH = "/api/v1/namespaces/kube-system/events"
PATIENCE = 30
"""
Seconds after which an Event is given up.
"""

Awaited: TypeAlias = Callable[[Json], bool]


@dataclass(frozen=True)
class Took:
    """
    Seconds from sending a change: until it was answered, until its Event was read.
    """

    answered: float
    read: float


class Arrivals:
    """
    *run* is a task. One Event is awaited at a time.
    """

    def __init__(self, session: Session) -> None:
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

    def next(self, awaited: Awaited) -> asyncio.Future[float]:
        """
        The time of the event loop at which the next new Event of this kind came.
        """
        self._awaited = awaited
        self._arrived = asyncio.get_running_loop().create_future()
        return self._arrived


async def patiently(arrival: asyncio.Future[float], what: str) -> float:
    """
    Raises AssertionError when it does not come.
    """
    try:
        async with asyncio.timeout(PATIENCE):
            return await arrival
    except TimeoutError:
        raise AssertionError(f"{what}: no Event within {PATIENCE} s") from None
