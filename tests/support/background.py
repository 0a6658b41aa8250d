"""Run what a test observes beside the test."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any


@asynccontextmanager
async def running_beside(work: Coroutine[Any, Any, Any], name: str) -> AsyncIterator[asyncio.Task]:
    """Run a loop until the test ends; its own end fails the test."""
    task = asyncio.create_task(work, name=name)
    try:
        yield task
        assert not task.done(), f"the {name} ended"
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
