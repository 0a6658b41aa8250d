"""
Places for turns at once, some of them kept for pods that were read before.

However many pods hang, one that answers does not wait for them.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager


class Room:
    """
    *places*: for how many turns there is room, by doubts: the last number for all who have more.
    """

    def __init__(self, places: Sequence[int]) -> None:
        self._levels = [asyncio.Semaphore(each) for each in places]

    @asynccontextmanager
    async def place(self, doubts: int) -> AsyncIterator[None]:
        """
        Who has doubts passes the narrower doors first; at each it is first come, first served.
        """
        level = min(doubts, len(self._levels) - 1)
        async with AsyncExitStack() as held:
            for each in reversed(self._levels[: level + 1]):
                await held.enter_async_context(each)
            yield
