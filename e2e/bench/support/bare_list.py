"""
What the API server needs for the lists of a start: nobody has read them sooner than the plainest client.
"""

import asyncio
import time

from e2e.bench.support.plain_client import PlainClient
from e2e.controlplane import ControlPlane
from reporter.kube.wire.paths import collection_path
from reporter.model.kinds import DEFAULT_KINDS


PAUSE = 1.0
"""
Seconds; what an API server asks for that has just started and still reads its objects itself.
"""


def seconds(plane: ControlPlane) -> float:
    """
    To read the same lists of the same kinds, all kinds at once, and to decode nothing.
    """
    begun = time.monotonic()
    asyncio.run(_all(plane))
    return time.monotonic() - begun


async def _all(plane: ControlPlane) -> None:
    async with PlainClient(plane) as session, asyncio.TaskGroup() as group:
        for kind in DEFAULT_KINDS:
            group.create_task(_one(session, collection_path(kind, kind.versions[0])))


async def _one(session: PlainClient, path: str) -> None:
    while not await session.drained(path):
        await asyncio.sleep(PAUSE)
