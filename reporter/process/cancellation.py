"""Cancel tasks and wait for their end."""

import asyncio
from contextlib import suppress
from typing import Any


async def cancel_all(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def stop_all(*tasks: asyncio.Task[Any]) -> None:
    """Do the same where the caller may be cancelled meanwhile and has more to stop."""
    with suppress(asyncio.CancelledError):
        await cancel_all(*tasks)
