"""
What a speaker must know of leadership, and the answer for a process that is alone.
"""

import asyncio
from typing import NoReturn, Protocol


class Leadership(Protocol):
    """
    Judging needs no leadership, speaking does.
    """

    @property
    def is_leader(self) -> bool:
        """
        For display. Never a reason to write: a process that was paused finds this still true.
        """

    @property
    def holder(self) -> str:
        """
        For display: who leads, as far as it was seen; empty if nobody does or nobody is elected.
        """

    def holds_lease(self) -> bool:
        """
        Ask immediately before each write: whether the lead still stands at this very moment.
        """

    def deadline(self) -> float | None:
        """
        When it ends unless it is renewed, in seconds of the event loop; None for never.
        """

    async def wait_acquired(self) -> None:
        """
        Return as soon as this process leads.
        """

    async def wait_lost(self) -> None:
        """
        Return as soon as this process does not lead, even if by then it leads anew.
        """


class NoElection:
    """
    Without election: always leading, so only one such process may speak for a cluster.
    """

    is_leader = True
    holder = ""

    def holds_lease(self) -> bool:
        return True

    def deadline(self) -> None:
        return

    async def wait_acquired(self) -> None:
        return

    async def wait_lost(self) -> NoReturn:
        while True:
            await asyncio.Event().wait()

    async def run(self) -> NoReturn:
        await self.wait_lost()

    async def release(self) -> None:
        return
