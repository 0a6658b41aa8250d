"""Cancel tasks and wait for their end."""

import asyncio
from contextlib import suppress
from typing import Any


async def cancel_all(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks and wait for their end; what they raise is left in them."""
    for task in tasks:
        task.cancel()
    if tasks:  # asyncio.wait refuses none
        await asyncio.wait(tasks)


async def stop_all(*tasks: asyncio.Task[Any]) -> None:
    """
    Cancel the tasks and wait for their end, where the caller has more to stop.

    A cancellation of the caller meanwhile ends the wait, and is not raised.
    """
    with suppress(asyncio.CancelledError):
        await cancel_all(*tasks)
