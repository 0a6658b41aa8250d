"""
Cancel tasks and wait for their end.
"""

import asyncio
from contextlib import suppress
from typing import Any


async def cancel_all(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.wait(tasks)
