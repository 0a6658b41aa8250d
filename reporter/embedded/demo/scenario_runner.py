"""
The acts, played and told.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from reporter.embedded.demo.events import SeenEvent
from reporter.embedded.demo.scenarios import KubectlStep, Scenario
from reporter.embedded.demo.terminal.screen import Screen
from reporter.runtime.clock import Clock


READY_REASON = "clusterReady"
EVENT_TIMEOUT = 45.0
"""
Seconds within which an expected Event must have come; the second look for CRDs takes 12 of them.
"""

READING_SECONDS = 2.5
"""
Seconds that a person gets before the next command.
"""


class EventMissing(Exception):
    """
    An Event that must come did not.
    """


@dataclass(frozen=True, slots=True)
class ScenarioRunner:
    """
    *found*: the Events, in the order in which they are read. *within*: seconds for each to come.
    """

    screen: Screen
    clock: Clock
    events: "asyncio.Queue[SeenEvent]"
    timeout_seconds: float = EVENT_TIMEOUT

    async def run(self, acts: Sequence[Scenario]) -> None:
        """
        Raises Unsaid.
        """
        for number, act in enumerate(acts, 1):
            self.screen.title(f"{number}/{len(acts)}  {act.title}")
            await self._apply(act.break_steps)
            await self._wait_for_event(act.reason, act.message_contains)
            await self._pause_for_reader()
            await self._apply(act.repair_steps)
            await self._wait_for_event(READY_REASON)
            await self._pause_for_reader()

    async def print_events(self) -> None:
        """
        Print Events until cancelled.
        """
        while True:
            await self._print_next_event()

    async def _apply(self, steps: Sequence[KubectlStep]) -> None:
        for step in steps:
            self.screen.command(step.command)
            if step.note:
                self.screen.note(step.note)
        for step in steps:
            step.apply()

    async def _wait_for_event(self, reason: str, saying: str = "") -> None:
        try:
            async with asyncio.timeout(self.timeout_seconds):
                while True:
                    seen = await self._print_next_event()
                    if seen.reason == reason and saying in seen.message:
                        return
        except TimeoutError:
            what = f"{reason} with {saying!r}" if saying else reason
            raise EventMissing(f"no Event {what} within {self.timeout_seconds:g} s") from None

    async def _print_next_event(self) -> SeenEvent:
        seen = await self.events.get()
        self.screen.event(seen, self.clock.now())
        if seen.count > 1:
            self.screen.note(
                f"This is the same Event, written again; its count is {seen.count} now."
            )
        return seen

    async def _pause_for_reader(self) -> None:
        if not self.screen.terminal:
            return
        try:
            async with asyncio.timeout(READING_SECONDS):
                await self.print_events()
        except TimeoutError:
            pass
