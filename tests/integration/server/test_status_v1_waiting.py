"""Requests to ``/status/v1`` that wait for a change, and leave before it."""

import asyncio

from reporter.server.served_document import MAX_WAITING
from tests.integration.server.test_status_v1 import Kept, client_of
from tests.support.rollups import stack_after


async def test_who_waits_and_leaves_makes_room_for_others():
    async with client_of(Kept(stack_after())) as client, asyncio.timeout(60):
        _, headers, _ = await client.get("/status/v1")
        known = {"If-None-Match": headers["ETag"]}

        async def until(status: int) -> None:
            while (await client.get("/status/v1?wait=1", headers=known))[0] != status:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

        async def wait() -> None:
            # Who finds no place asks again, or one who leaves would leave it to the request below.
            while (await client.get("/status/v1?wait=30", headers=known))[0] == 429:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(wait()) for _ in range(MAX_WAITING + 8)]
            await until(429)
            for each in waiting:
                each.cancel()
        await until(304)
