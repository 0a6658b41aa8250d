"""
The embedded API server with its healthy example stack, alive.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from reporter.embedded import EmbeddedServer
from reporter.embedded.controllers import crashing_kubelet, loop
from reporter.embedded.demo.scenarios import CRDS, DEPLOYMENTS
from reporter.embedded.storage.storage import WatchQueue
from reporter.runtime.clock import Clock


@asynccontextmanager
async def run_live_stack(clock: Clock) -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer(clock=clock) as server, asyncio.TaskGroup() as group:
        server.load_example_stack()
        _apply_chart_strategy(server)
        tasks = [
            group.create_task(
                loop.run_controllers(server.cluster, now=clock.now), name="controllers"
            ),
            group.create_task(
                crashing_kubelet.run_kubelet(server.cluster, now=clock.now), name="kubelet"
            ),
            group.create_task(_trigger_discovery(server), name="hints"),
        ]
        try:
            yield server
        finally:
            for task in tasks:
                task.cancel()


def _apply_chart_strategy(server: EmbeddedServer) -> None:
    """
    KAITO's chart lets its one replica be away during an update.
    """
    patch = {"spec": {"strategy": {"rollingUpdate": {"maxUnavailable": 1}}}}
    server.cluster.patch(DEPLOYMENTS, "kaito-system", "kaito-workspace", patch)


async def _trigger_discovery(server: EmbeddedServer) -> None:
    """
    End a watch of the reporter when a CRD came or went, which makes it ask at once what is served.

    Otherwise it asks every 30 s. It need not wait where it watches the objects of that CRD, as the
    API server ends their watch.
    """
    objects = server.cluster.objects
    changes: WatchQueue = asyncio.Queue()
    collection = objects.collection(objects.registry.by_group_resource(CRDS))
    collection.watchers.add(changes)
    try:
        while True:
            await changes.get()
            server.end_watches("namespaces")
    finally:
        collection.watchers.discard(changes)
