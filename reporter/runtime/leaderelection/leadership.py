"""
The leadership as the publisher sees it, and the answer for a process without election.
"""

import asyncio
from typing import NoReturn, Protocol


class Leadership(Protocol):
    """
    Every replica evaluates; only the leader writes Events.
    """

    @property
    def is_leader(self) -> bool:
        """
        Report leadership for display. Writes ask *holds_lease*: after a pause this is still True.
        """

    @property
    def holder(self) -> str:
        """
        The identity of the leader as last seen, for display; empty without one or without election.
        """

    def holds_lease(self) -> bool:
        """
        Report whether the lease is valid at this very moment; ask immediately before each write.
        """

    def deadline(self) -> float | None:
        """
        Return when the lease ends without a renewal, in seconds of the event loop; None for never.
        """

    async def wait_acquired(self) -> None:
        """
        Return as soon as this process leads.
        """

    async def wait_lost(self) -> None:
        """
        Return as soon as this process stops leading, even if it leads again by then.
        """


class NoElection:
    """
    Always leading; only one such process may write the Events of a cluster.
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
