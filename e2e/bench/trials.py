"""The trials of the reporter and of the floor, in turn on the same API server."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from e2e.bench.support.baseline_client import BaselineClient
from e2e.bench.support.event_waiter import EventWaiter, Latencies, await_event
from e2e.bench.support.plain_client import Json, PlainClient
from e2e.controlplane import ControlPlane
from e2e.support.production_stack import components
from e2e.support.production_stack.components import BODY_BASED_ROUTER


WARM_UP = 3
"""First trials of each that do not count, as they open connections and load code."""

IDLE_BEFORE_TRIAL = (0.3, 0.8)
"""Range of random seconds without a change before each trial: longer than a burst of changes."""

WARNING, READY = "clusterBBRNotReady", "clusterReady"


@dataclass
class TrialLatencies:
    """The latencies of the trials that count."""

    reporter: list[Latencies] = field(default_factory=list)
    floor: list[Latencies] = field(default_factory=list)


async def measure(plane: ControlPlane, trials: int) -> TrialLatencies:
    """Run the trials. The reporter must be running and know the Deployment as healthy."""
    figures = TrialLatencies()
    async with PlainClient(plane) as session, asyncio.TaskGroup() as group:
        arrivals = EventWaiter(session)
        floor = BaselineClient(session, arrivals)
        await floor.install()
        watches = [group.create_task(client.run()) for client in (arrivals, floor)]
        await arrivals.opened.wait()
        await floor.opened.wait()
        router = RouterTrials(
            session, arrivals, await session.get(components.path(BODY_BASED_ROUTER))
        )
        for number in range(WARM_UP + trials):
            took = (await _after_idle_time(router.trial), await _after_idle_time(floor.trial))
            if number >= WARM_UP:
                figures.reporter.append(took[0])
                figures.floor.append(took[1])
        for watch in watches:
            watch.cancel()
    return figures


async def _after_idle_time(trial: Callable[[], Awaitable[Latencies]]) -> Latencies:
    await asyncio.sleep(random.uniform(*IDLE_BEFORE_TRIAL))
    return await trial()


class RouterTrials:
    """Trials that scale the body-based router to zero and back, and write its status."""

    def __init__(self, session: PlainClient, arrivals: EventWaiter, deployment: Json) -> None:
        self._session, self._arrivals = session, arrivals
        self._replicas, self._status = deployment["spec"]["replicas"], deployment["status"]

    async def trial(self) -> Latencies:
        """Run one trial, until its episode has ended."""
        path = components.path(BODY_BASED_ROUTER)
        arrival = self._arrivals.expect(lambda event: bool(event["reason"] == WARNING))
        begun = asyncio.get_running_loop().time()
        answered = await self._session.patch(path, {"spec": {"replicas": 0}})
        arrived = await await_event(arrival, WARNING)
        recovery = self._arrivals.expect(lambda event: bool(event["reason"] == READY))
        await self._session.patch(path, {"spec": {"replicas": self._replicas}})
        await self._write_status(path)
        await await_event(recovery, READY)
        return Latencies(answered, arrived - begun)

    async def _write_status(self, path: str) -> None:
        generation = (await self._session.get(path))["metadata"]["generation"]
        status = {**self._status, "observedGeneration": generation}
        await self._session.patch(f"{path}/status", {"status": status})
