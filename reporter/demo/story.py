"""
The acts, played and told.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from reporter.clock import Clock
from reporter.demo.acts import Act, Step
from reporter.demo.events import SeenEvent
from reporter.demo.screen import Screen


READY = "clusterReady"
LATEST = 45.0
"""
Seconds within which an expected Event must have come; the second look for CRDs takes 12 of them.
"""

READING = 2.5
"""
Seconds that a person gets before the next command.
"""


class Unsaid(Exception):
    """
    An Event that must come did not.
    """


@dataclass(frozen=True, slots=True)
class Storyteller:
    """
    *found*: the Events, in the order in which they are read. *within*: seconds for each to come.
    """

    screen: Screen
    clock: Clock
    found: "asyncio.Queue[SeenEvent]"
    within: float = LATEST

    async def tell(self, acts: Sequence[Act]) -> None:
        """
        Raises Unsaid.
        """
        for number, act in enumerate(acts, 1):
            self.screen.title(f"{number}/{len(acts)}  {act.title}")
            await self._do(act.breaking)
            await self._until(act.reason, act.saying)
            await self._let_read()
            await self._do(act.mending)
            await self._until(READY)
            await self._let_read()

    async def listen(self) -> None:
        """
        Print Events until cancelled.
        """
        while True:
            await self._next()

    async def _do(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.screen.command(step.command)
            if step.note:
                self.screen.note(step.note)
        for step in steps:
            step.do()

    async def _until(self, reason: str, saying: str = "") -> None:
        try:
            async with asyncio.timeout(self.within):
                while True:
                    seen = await self._next()
                    if seen.reason == reason and saying in seen.message:
                        return
        except TimeoutError:
            what = f"{reason} with {saying!r}" if saying else reason
            raise Unsaid(f"no Event {what} within {self.within:g} s") from None

    async def _next(self) -> SeenEvent:
        seen = await self.found.get()
        self.screen.event(seen, self.clock.now())
        if seen.count > 1:
            self.screen.note(
                f"This is the same Event, written again; its count is {seen.count} now."
            )
        return seen

    async def _let_read(self) -> None:
        if not self.screen.terminal:
            return
        try:
            async with asyncio.timeout(READING):
                await self.listen()
        except TimeoutError:
            pass
