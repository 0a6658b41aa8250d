"""
All that the reporter says, as one watch that is open all the time brings it.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from e2e.bench.support.event_waiter import PATH
from e2e.bench.support.plain_client import PlainClient
from e2e.support.events import SOURCE


@dataclass(frozen=True, slots=True)
class ObservedWrite:
    """
    *at* in seconds of the event loop. *first*: whether the Event is new.
    """

    at: float
    reason: str
    first: bool


class EventRecorder:
    """
    *run* is a task.
    """

    def __init__(self, session: PlainClient) -> None:
        self._session = session
        self.writes: list[ObservedWrite] = []
        self.opened = asyncio.Event()
        self._came = asyncio.Event()

    async def run(self) -> NoReturn:
        """
        A watch that is ended, as the API server does with a slow reader, goes on where it was.
        """
        version = await self._session.version(PATH)
        self.opened.set()
        while True:
            async for at, line in self._session.watch(PATH, version):
                change = json.loads(line)
                told = change["object"]
                if change["type"] == "ERROR":
                    raise AssertionError(f"Events were missed: {told}")
                version = told["metadata"]["resourceVersion"]
                if told.get("reportingComponent") == SOURCE and change["type"] != "DELETED":
                    self.writes.append(
                        ObservedWrite(at, told["reason"], change["type"] == "ADDED")
                    )
                    self._came.set()

    def first_writes(self, reason: str) -> list[ObservedWrite]:
        """
        The new ones of this reason.
        """
        return [each for each in self.writes if each.reason == reason and each.first]

    def newest(self) -> float:
        """
        When the last Event came that was not a repetition; in the far past if there is none.
        """
        return max((each.at for each in self.writes if each.first), default=float("-inf"))

    async def until(self, true: Callable[[], bool], *, within: float) -> bool:
        """
        Whether it became true in time.
        """
        try:
            async with asyncio.timeout(within):
                while not true():
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            return true()
        return True

    def max_writes_within(self, seconds: float) -> int:
        """
        Writes of the busiest such span.
        """
        most = begin = 0
        for end, write in enumerate(self.writes):
            while self.writes[begin].at <= write.at - seconds:
                begin += 1
            most = max(most, end - begin + 1)
        return most
