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

from reporter.kube.wire.errors import KubeError, Refused, Throttled, Unreachable
from tests.simulation.virtual_clock import VirtualClock


T = TypeVar("T")
REQUEST_TIMEOUT = 5.0
"""
Seconds until a caller does not wait for an answer any longer.
"""


@unique
class NetworkCondition(StrEnum):
    """
    What goes wrong with requests; each happens to most of them, none to all.
    """

    HEALTHY = "fair"
    SLOW = "slow"
    ANSWERS_LOST = "answers lost"
    REQUESTS_LOST = "requests lost"
    THROTTLED = "throttled"
    QUOTA = "quota"  # of Events; the Lease is not made anew
    EVENTS_UNANSWERED = "answers about Events lost"
    FAILING = "failing"
    UNREACHABLE = "gone"  # nothing gets through at all


@dataclass(slots=True)
class SimulatedNetwork:
    """
    Between one replica and the API server. *deliver* runs an act in the replica's process.
    """

    clock: VirtualClock
    random: Random
    deliver: Callable[[Callable[[], None]], None]
    condition: NetworkCondition = NetworkCondition.HEALTHY

    async def call(self, request: Callable[[], T], doing: str) -> T:
        """
        What was sent arrives within a moment or never, even when its sender waits no longer.
        """
        weather = self._condition_for(doing)
        if self.condition is NetworkCondition.UNREACHABLE:
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
            if weather is NetworkCondition.REQUESTS_LOST:
                return
            try:
                outcome: T | KubeError = _refusal(weather, doing) or request()
            except KubeError as err:
                outcome = err
            if weather is not NetworkCondition.ANSWERS_LOST:
                back = self._response_delay(weather)
                self.clock.call_after(back, lambda: self.deliver(lambda: deliver(outcome)))

        self.clock.call_after(self.random.uniform(0.001, 0.05), arrive)
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT):
                return await answer
        except TimeoutError:
            raise Unreachable(doing, message="no answer in time", may_have_applied=True) from None

    def _condition_for(self, doing: str) -> NetworkCondition:
        weather = self.condition if self.random.random() < 0.8 else NetworkCondition.HEALTHY
        if weather not in {NetworkCondition.QUOTA, NetworkCondition.EVENTS_UNANSWERED}:
            return weather
        if "lease" in doing:
            return NetworkCondition.HEALTHY
        return (
            NetworkCondition.ANSWERS_LOST
            if weather is NetworkCondition.EVENTS_UNANSWERED
            else weather
        )

    def _response_delay(self, weather: NetworkCondition) -> float:
        return (
            self.random.uniform(1, 8)
            if weather is NetworkCondition.SLOW
            else self.random.uniform(0, 0.1)
        )


def _refusal(weather: NetworkCondition, doing: str) -> KubeError | None:
    match weather:
        case NetworkCondition.THROTTLED:
            return Throttled(doing, status=429, retry_after=timedelta(seconds=7))
        case NetworkCondition.QUOTA:
            return Refused(doing, status=403, message="exceeded quota")
        case NetworkCondition.FAILING:
            return Unreachable(doing, status=503, message="etcd is not there")
        case _:
            return None
