"""
The embedded API server with its healthy example stack, alive.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from reporter.clock import Clock
from reporter.demo import kubelet
from reporter.demo.acts import CRDS, DEPLOYMENTS
from reporter.embedded import EmbeddedServer, controllers
from reporter.embedded.storage import Delivery


@asynccontextmanager
async def living_stack(clock: Clock) -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer(clock=clock) as server, asyncio.TaskGroup() as group:
        server.load_example_stack()
        _as_shipped(server)
        tasks = [
            group.create_task(controllers.run(server.cluster, now=clock.now), name="controllers"),
            group.create_task(kubelet.run(server.cluster, now=clock.now), name="kubelet"),
            group.create_task(_hint(server), name="hints"),
        ]
        try:
            yield server
        finally:
            for task in tasks:
                task.cancel()


def _as_shipped(server: EmbeddedServer) -> None:
    """
    KAITO's chart lets its one replica be away during an update.
    """
    patch = {"spec": {"strategy": {"rollingUpdate": {"maxUnavailable": 1}}}}
    server.cluster.patch(DEPLOYMENTS, "kaito-system", "kaito-workspace", patch)


async def _hint(server: EmbeddedServer) -> None:
    """
    End a watch of the reporter when a CRD came or went, which makes it ask at once what is served.

    Otherwise it asks every 30 s. It need not wait where it watches the objects of that CRD, as the
    API server ends their watch.
    """
    objects = server.cluster.objects
    changes: Delivery = asyncio.Queue()
    collection = objects.collection(objects.registry.named(CRDS))
    collection.watchers.add(changes)
    try:
        while True:
            await changes.get()
            server.end_watches("namespaces")
    finally:
        collection.watchers.discard(changes)
