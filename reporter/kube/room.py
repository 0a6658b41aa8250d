"""
Places for turns at once, some of them kept for pods that were read before.

However many pods hang, one that answers does not wait for them, nor does one that is new.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager


class Room:
    """
    *places*: for how many turns there is room, by doubts: the last number for all who have more.

    Who waits first is let in first, but at their door those of *hasty* doubts: of them the last that
    came, and before who has more. They are new: of thousands that came together all may hang, each for
    seconds, and one that has come since must not wait for them.
    """

    def __init__(self, places: Sequence[int], *, hasty: int | None = None) -> None:
        self._doors, self._hasty = [_Door(each) for each in places], hasty

    @asynccontextmanager
    async def place(self, doubts: int) -> AsyncIterator[None]:
        """
        Who has doubts passes the narrower doors first.
        """
        level = min(doubts, len(self._doors) - 1)
        async with AsyncExitStack() as held:
            for number in reversed(range(level + 1)):
                await self._doors[number].enter(ahead=number == doubts == self._hasty)
                held.callback(self._doors[number].leave)
            yield


class _Door:
    """
    Lets only so many in at a time.
    """

    def __init__(self, places: int) -> None:
        self._left = places
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self, *, ahead: bool) -> None:
        if self._left:
            self._left -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        if ahead:
            self._waiting.append(turn)
        else:
            self._waiting.appendleft(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was let in at the same moment
                self.leave()
            raise

    def leave(self) -> None:
        while self._waiting:
            turn = self._waiting.pop()
            if not turn.done():
                turn.set_result(None)
                return
        self._left += 1
