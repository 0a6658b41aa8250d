"""
What the API server needs for the lists of a start: nobody has read them sooner than the plainest client.
"""

import asyncio
import time

from e2e.bench.session import Session
from e2e.controlplane import ControlPlane
from reporter.kube.paths import collection
from reporter.model.kinds import KINDS


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
    async with Session(plane) as session, asyncio.TaskGroup() as group:
        for kind in KINDS:
            group.create_task(_one(session, collection(kind, kind.versions[0])))


async def _one(session: Session, path: str) -> None:
    while not await session.drained(path):
        await asyncio.sleep(PAUSE)
