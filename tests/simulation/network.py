"""
What becomes of a request between a replica and the API server.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum, unique
from random import Random
from typing import TypeVar

from reporter.kube.errors import KubeError, Refused, Throttled, Unreachable
from tests.simulation.agenda import Agenda


T = TypeVar("T")
GIVE_UP = 5.0
"""
Seconds until a caller does not wait for an answer any longer.
"""


@unique
class Weather(StrEnum):
    """
    What goes wrong with requests; each happens to most of them, none to all.
    """

    FAIR = "fair"
    SLOW = "slow"
    ANSWERS_LOST = "answers lost"
    REQUESTS_LOST = "requests lost"
    THROTTLED = "throttled"
    QUOTA = "quota"  # of Events; the Lease is not made anew
    EVENTS_UNANSWERED = "answers about Events lost"
    FAILING = "failing"
    GONE = "gone"  # nothing gets through at all


@dataclass(slots=True)
class Network:
    """
    Between one replica and the API server. *deliver* runs an act in the replica's process.
    """

    agenda: Agenda
    random: Random
    deliver: Callable[[Callable[[], None]], None]
    weather: Weather = Weather.FAIR

    async def call(self, request: Callable[[], T], doing: str) -> T:
        """
        What was sent arrives within a moment or never, even when its sender waits no longer.
        """
        weather = self._weather_of(doing)
        if self.weather is Weather.GONE:
            raise Unreachable(doing, message="connection refused")
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def deliver(outcome: T | KubeError) -> None:
            if answer.done():
                return
            if isinstance(outcome, KubeError):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)

        def arrive() -> None:
            if weather is Weather.REQUESTS_LOST:
                return
            try:
                outcome: T | KubeError = _refusal(weather, doing) or request()
            except KubeError as err:
                outcome = err
            if weather is not Weather.ANSWERS_LOST:
                back = self._way_back(weather)
                self.agenda.after(back, lambda: self.deliver(lambda: deliver(outcome)))

        self.agenda.after(self.random.uniform(0.001, 0.05), arrive)
        try:
            async with asyncio.timeout(GIVE_UP):
                return await answer
        except TimeoutError:
            raise Unreachable(doing, message="no answer in time", arrived=True) from None

    def _weather_of(self, doing: str) -> Weather:
        weather = self.weather if self.random.random() < 0.8 else Weather.FAIR
        if weather not in {Weather.QUOTA, Weather.EVENTS_UNANSWERED}:
            return weather
        if "lease" in doing:
            return Weather.FAIR
        return Weather.ANSWERS_LOST if weather is Weather.EVENTS_UNANSWERED else weather

    def _way_back(self, weather: Weather) -> float:
        return (
            self.random.uniform(1, 8) if weather is Weather.SLOW else self.random.uniform(0, 0.1)
        )


def _refusal(weather: Weather, doing: str) -> KubeError | None:
    match weather:
        case Weather.THROTTLED:
            return Throttled(doing, status=429, retry_after=timedelta(seconds=7))
        case Weather.QUOTA:
            return Refused(doing, status=403, message="exceeded quota")
        case Weather.FAILING:
            return Unreachable(doing, status=503, message="etcd is not there")
        case _:
            return None
