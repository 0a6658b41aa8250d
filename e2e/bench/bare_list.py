"""
What the API server needs for the lists of a start: nobody has read them sooner than the plainest client.
"""

import asyncio
import re
import time

from e2e.bench.session import Session
from e2e.controlplane import ControlPlane
from reporter.kube.lists import PAGE
from reporter.kube.paths import collection
from reporter.model.kinds import KINDS


_TOKEN = re.compile(rb'"continue":"([^"]+)"')
_BEGINNING = 500
"""
Bytes of a page in which its token stands.
"""


def seconds(plane: ControlPlane) -> float:
    """
    To read the same pages of the same kinds, all kinds at once, and to decode nothing.
    """
    begun = time.monotonic()
    asyncio.run(_all(plane))
    return time.monotonic() - begun


async def _all(plane: ControlPlane) -> None:
    async with Session(plane) as session, asyncio.TaskGroup() as group:
        for kind in KINDS:
            group.create_task(_pages(session, collection(kind, kind.versions[0])))


async def _pages(session: Session, path: str) -> None:
    query = f"{path}?limit={PAGE}"
    page = await session.read(query)
    while token := _TOKEN.search(page[:_BEGINNING]):
        page = await session.read(f"{query}&continue={token[1].decode()}")
