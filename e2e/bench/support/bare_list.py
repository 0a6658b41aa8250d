"""The floor of a start: a plain client reads the lists that the reporter reads."""

import asyncio
import time

from e2e.bench.support.plain_client import PlainClient
from e2e.controlplane import ControlPlane
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kube.paths import collection_path


PAUSE = 1.0
"""Seconds; the Retry-After of an API server that has just started and fills its caches."""


def seconds(plane: ControlPlane) -> float:
    """Return the seconds to read the lists of all kinds at once, without decoding them."""
    begun = time.monotonic()
    asyncio.run(_read_all(plane))
    return time.monotonic() - begun


async def _read_all(plane: ControlPlane) -> None:
    async with PlainClient(plane) as session, asyncio.TaskGroup() as group:
        for kind in DEFAULT_KINDS:
            group.create_task(_read_list(session, collection_path(kind, kind.versions[0])))


async def _read_list(session: PlainClient, path: str) -> None:
    while not await session.read_all(path):
        await asyncio.sleep(PAUSE)
