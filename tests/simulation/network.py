"""The network between a replica and the API server."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum, unique
from random import Random
from typing import TypeVar

from reporter.kube.errors import KubeError, Refused, Throttled, Unreachable
from tests.support.virtual_clock import VirtualClock


T = TypeVar("T")
REQUEST_TIMEOUT = 5.0
"""The seconds until a caller no longer waits for a response."""


@unique
class NetworkCondition(StrEnum):
    """A fault of requests. It happens to most requests, not to all."""

    HEALTHY = "healthy"
    SLOW = "slow"
    ANSWERS_LOST = "answers lost"
    REQUESTS_LOST = "requests lost"
    THROTTLED = "throttled"
    QUOTA = "quota"  # of Events; the Lease exists already
    EVENTS_UNANSWERED = "answers about Events lost"
    FAILING = "failing"
    UNREACHABLE = "unreachable"  # nothing gets through at all


@dataclass(slots=True)
class SimulatedNetwork:
    """
    The network of one replica.

    *deliver*: runs a callback in the replica's process.
    """

    clock: VirtualClock
    random: Random
    deliver: Callable[[Callable[[], None]], None]
    condition: NetworkCondition = NetworkCondition.HEALTHY

    async def call(self, request: Callable[[], T], operation: str) -> T:
        """
        Send a request. It arrives within a moment or never, even when its sender no longer waits.
        """
        condition = self._condition_for(operation)
        if self.condition is NetworkCondition.UNREACHABLE:
            raise Unreachable(operation, message="connection refused")
        response: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def deliver(outcome: T | KubeError) -> None:
            if response.done():
                return
            if isinstance(outcome, KubeError):
                response.set_exception(outcome)
            else:
                response.set_result(outcome)

        def arrive() -> None:
            if condition is NetworkCondition.REQUESTS_LOST:
                return
            try:
                outcome: T | KubeError = _refusal(condition, operation) or request()
            except KubeError as err:
                outcome = err
            if condition is not NetworkCondition.ANSWERS_LOST:
                back = self._response_delay(condition)
                self.clock.call_after(back, lambda: self.deliver(lambda: deliver(outcome)))

        self.clock.call_after(self.random.uniform(0.001, 0.05), arrive)
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT):
                return await response
        except TimeoutError:
            raise Unreachable(
                operation, message="no answer in time", may_have_applied=True
            ) from None

    def _condition_for(self, operation: str) -> NetworkCondition:
        condition = self.condition if self.random.random() < 0.8 else NetworkCondition.HEALTHY
        if condition not in {NetworkCondition.QUOTA, NetworkCondition.EVENTS_UNANSWERED}:
            return condition
        if "lease" in operation:
            return NetworkCondition.HEALTHY
        return (
            NetworkCondition.ANSWERS_LOST
            if condition is NetworkCondition.EVENTS_UNANSWERED
            else condition
        )

    def _response_delay(self, condition: NetworkCondition) -> float:
        return (
            self.random.uniform(1, 8)
            if condition is NetworkCondition.SLOW
            else self.random.uniform(0, 0.1)
        )


def _refusal(condition: NetworkCondition, operation: str) -> KubeError | None:
    match condition:
        case NetworkCondition.THROTTLED:
            return Throttled(operation, status=429, retry_after=timedelta(seconds=7))
        case NetworkCondition.QUOTA:
            return Refused(operation, status=403, message="exceeded quota")
        case NetworkCondition.FAILING:
            return Unreachable(operation, status=503, message="etcd is not available")
        case _:
            return None
