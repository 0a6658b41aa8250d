"""The API server in memory with the example stack and its controllers running."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from devcluster import DevCluster
from devcluster.controllers import crashing_kubelet, loop
from devcluster.demo.scenarios import CRDS, DEPLOYMENTS
from reporter.process.clock import Clock


@asynccontextmanager
async def run_live_stack(clock: Clock) -> AsyncIterator[DevCluster]:
    async with DevCluster(clock=clock) as server, asyncio.TaskGroup() as group:
        server.load_example_stack()
        _apply_chart_strategy(server)
        tasks = [
            group.create_task(
                loop.run_controllers(server.cluster, now=clock.now), name="controllers"
            ),
            group.create_task(
                crashing_kubelet.run_kubelet(server.cluster, now=clock.now), name="kubelet"
            ),
            group.create_task(_trigger_discovery(server), name="discovery trigger"),
        ]
        try:
            yield server
        finally:
            for task in tasks:
                task.cancel()


def _apply_chart_strategy(server: DevCluster) -> None:
    """Allow the only replica of KAITO's controller to be unavailable, as KAITO's chart does."""
    patch = {"spec": {"strategy": {"rollingUpdate": {"maxUnavailable": 1}}}}
    server.cluster.patch(DEPLOYMENTS, "kaito-system", "kaito-workspace", patch)


async def _trigger_discovery(server: DevCluster) -> None:
    """
    End a watch of the reporter whenever a CRD changes, so that it repeats discovery at once.

    It repeats discovery every 30 s otherwise, which would make the demo slow. For a CRD whose
    objects it watches, this is not needed, as the API server ends those watches.
    """
    with server.cluster.changes(CRDS) as changes:
        while True:
            await changes.get()
            server.end_watches("namespaces")
