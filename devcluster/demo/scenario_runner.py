"""The runner of the demo's scenarios."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from devcluster.demo.events import SeenEvent
from devcluster.demo.scenarios import KubectlStep, Scenario
from devcluster.demo.terminal.screen import Screen
from reporter.process.clock import Clock


READY_REASON = "clusterReady"
EVENT_TIMEOUT = 45.0
"""
Seconds to wait for an expected Event. A missing CRD alone takes 12 s, as discovery runs twice.
"""

READING_SECONDS = 2.5
"""Seconds for a person to read before the next command."""


class EventMissing(Exception):
    """An expected Event did not come in time."""


@dataclass(frozen=True, slots=True)
class ScenarioRunner:
    """
    Applies scenarios and prints the Events that follow; *events* are those read from the watch.
    """

    screen: Screen
    clock: Clock
    events: "asyncio.Queue[SeenEvent]"
    timeout_seconds: float = EVENT_TIMEOUT

    async def run(self, scenarios: Sequence[Scenario]) -> None:
        """Run all scenarios. Raise EventMissing if an expected Event does not come."""
        for number, scenario in enumerate(scenarios, 1):
            self.screen.title(f"{number}/{len(scenarios)}  {scenario.title}")
            await self._apply(scenario.break_steps)
            await self._wait_for_event(scenario.reason, scenario.message_contains)
            await self._pause_for_reader()
            await self._apply(scenario.repair_steps)
            await self._wait_for_event(READY_REASON)
            await self._pause_for_reader()

    async def print_events(self) -> None:
        """Print Events until cancelled."""
        while True:
            await self._print_next_event()

    async def _apply(self, steps: Sequence[KubectlStep]) -> None:
        for step in steps:
            self.screen.command(step.command)
            if step.note:
                self.screen.note(step.note)
        for step in steps:
            step.apply()

    async def _wait_for_event(self, reason: str, message_contains: str = "") -> None:
        try:
            async with asyncio.timeout(self.timeout_seconds):
                while True:
                    seen = await self._print_next_event()
                    if seen.reason == reason and message_contains in seen.message:
                        return
        except TimeoutError:
            expected = f"{reason} with {message_contains!r}" if message_contains else reason
            raise EventMissing(f"no Event {expected} within {self.timeout_seconds:g} s") from None

    async def _print_next_event(self) -> SeenEvent:
        seen = await self.events.get()
        self.screen.event(seen, self.clock.now())
        if seen.count > 1:
            self.screen.note(f"This is the same Event, updated; its count is now {seen.count}.")
        return seen

    async def _pause_for_reader(self) -> None:
        if not self.screen.terminal:
            return
        try:
            async with asyncio.timeout(READING_SECONDS):
                await self.print_events()
        except TimeoutError:
            pass
