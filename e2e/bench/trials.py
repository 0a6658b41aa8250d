"""
The trials: those of the reporter and those of the floor in turn, on the same API server.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from e2e import stack
from e2e.bench.arrivals import Arrivals, Took, patiently
from e2e.bench.floor import Floor
from e2e.bench.session import Json, Session
from e2e.controlplane import ControlPlane
from e2e.stack import BODY_BASED_ROUTER


WARM_UP = 3
"""
Trials of each that come first and do not count: connections are opened, code runs the first time.
"""

QUIET = (0.3, 0.8)
"""
Seconds without a change before each trial, drawn anew: more than a burst of changes lasts.
"""

WARNING, READY = "clusterBBRNotReady", "clusterReady"


@dataclass
class Figures:
    """
    Of the trials that count.
    """

    reporter: list[Took] = field(default_factory=list)
    floor: list[Took] = field(default_factory=list)


async def measure(plane: ControlPlane, trials: int) -> Figures:
    """
    The reporter must run already, and know the Deployment as healthy.
    """
    figures = Figures()
    async with Session(plane) as session, asyncio.TaskGroup() as group:
        arrivals = Arrivals(session)
        floor = Floor(session, arrivals)
        await floor.install()
        watches = [group.create_task(each.run()) for each in (arrivals, floor)]
        await arrivals.opened.wait()
        await floor.opened.wait()
        router = Router(session, arrivals, await session.get(stack.path(BODY_BASED_ROUTER)))
        for number in range(WARM_UP + trials):
            took = (await _after_quiet(router.trial), await _after_quiet(floor.trial))
            if number >= WARM_UP:
                figures.reporter.append(took[0])
                figures.floor.append(took[1])
        for watch in watches:
            watch.cancel()
    return figures


async def _after_quiet(trial: Callable[[], Awaitable[Took]]) -> Took:
    await asyncio.sleep(random.uniform(*QUIET))
    return await trial()


class Router:
    """
    The body-based router, scaled to zero and back; its status is written by us.
    """

    def __init__(self, session: Session, arrivals: Arrivals, deployment: Json) -> None:
        self._session, self._arrivals = session, arrivals
        self._replicas, self._status = deployment["spec"]["replicas"], deployment["status"]

    async def trial(self) -> Took:
        """
        Ends when its episode has ended.
        """
        path = stack.path(BODY_BASED_ROUTER)
        arrival = self._arrivals.next(lambda event: bool(event["reason"] == WARNING))
        begun = asyncio.get_running_loop().time()
        answered = await self._session.patch(path, {"spec": {"replicas": 0}})
        arrived = await patiently(arrival, WARNING)
        recovery = self._arrivals.next(lambda event: bool(event["reason"] == READY))
        await self._session.patch(path, {"spec": {"replicas": self._replicas}})
        await self._write_status(path)
        await patiently(recovery, READY)
        return Took(answered, arrived - begun)

    async def _write_status(self, path: str) -> None:
        generation = (await self._session.get(path))["metadata"]["generation"]
        status = {**self._status, "observedGeneration": generation}
        await self._session.patch(f"{path}/status", {"status": status})
