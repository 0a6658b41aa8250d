"""A recording of the reporter's Event writes by one watch."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from e2e.bench.support.event_waiter import PATH
from e2e.bench.support.plain_client import PlainClient
from e2e.bench.support.spans import most_within
from e2e.support.events import SOURCE


@dataclass(frozen=True, slots=True)
class ObservedWrite:
    """A write of an Event; *at* is the event loop's time, *first* is True if the Event is new."""

    at: float
    reason: str
    first: bool


class EventRecorder:
    """Records the writes of the reporter's Events; `run` must run as a task."""

    def __init__(self, session: PlainClient) -> None:
        self._session = session
        self.writes: list[ObservedWrite] = []
        self.opened = asyncio.Event()
        self._recorded = asyncio.Event()

    async def run(self) -> NoReturn:
        """
        Record until cancelled. A watch that the API server ends is continued at its last version.
        """
        version = await self._session.version(PATH)
        self.opened.set()
        while True:
            async for at, line in self._session.watch(PATH, version):
                change = json.loads(line)
                event = change["object"]
                if change["type"] == "ERROR":
                    raise AssertionError(f"Events were missed: {event}")
                version = event["metadata"]["resourceVersion"]
                if event.get("reportingComponent") == SOURCE and change["type"] != "DELETED":
                    self.writes.append(
                        ObservedWrite(at, event["reason"], change["type"] == "ADDED")
                    )
                    self._recorded.set()

    def first_writes(self, reason: str) -> list[ObservedWrite]:
        """Return the first writes of the Events of a reason."""
        return [write for write in self.writes if write.reason == reason and write.first]

    def newest(self) -> float:
        """Return the time of the last new Event; minus infinity if there is none."""
        return max((write.at for write in self.writes if write.first), default=float("-inf"))

    async def until(self, condition: Callable[[], bool], *, within: float) -> bool:
        """Wait for a condition. Return whether it became true in time."""
        try:
            async with asyncio.timeout(within):
                while not condition():
                    self._recorded.clear()
                    await self._recorded.wait()
        except TimeoutError:
            return condition()
        return True

    def max_writes_within(self, seconds: float) -> int:
        """Return the writes of the busiest span of *seconds*."""
        return most_within([write.at for write in self.writes], seconds)
