"""
The interface of leadership, its implementation without leader election, and work that needs it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NoReturn, Protocol, TypeVar

from reporter.kube.errors import Unreachable
from reporter.process.cancellation import cancel_all


T = TypeVar("T")


class Leadership(Protocol):
    """The right to write of this process. Every replica evaluates; only the leader announces."""

    @property
    def is_leader(self) -> bool:
        """
        Return whether this process leads, for display.

        Never write because of this: it is still true in a process that was paused past its deadline.
        """

    @property
    def holder(self) -> str:
        """Return who leads, as far as it was seen, for display; empty if nobody does."""

    def holds_lease(self) -> bool:
        """
        Return whether this process leads at this very moment. Ask immediately before each write.
        """

    def deadline(self) -> float | None:
        """
        Return when leadership ends without a renewal, in seconds of the event loop; None for never.
        """

    async def wait_acquired(self) -> None:
        """Return as soon as this process leads; at once if it does."""

    async def wait_lost(self) -> None:
        """Return as soon as this process does not lead, even if it leads again by then."""


class NoElection:
    """
    Leadership without election: the process always leads, so a cluster must run one of it only.
    """

    is_leader = True
    holder = ""

    def holds_lease(self) -> bool:
        """Return True: nobody else can lead."""
        return True

    def deadline(self) -> None:
        """Return None, so that no write is ever cut off."""
        return

    async def wait_acquired(self) -> None:
        """Return at once, as the process leads from its start."""
        return

    async def wait_lost(self) -> NoReturn:
        """Wait until cancelled, as leadership is never lost."""
        while True:
            await asyncio.Event().wait()

    async def run(self) -> NoReturn:
        """Wait until cancelled, in place of the loop of an Elector."""
        await self.wait_lost()

    async def release(self) -> None:
        """Do nothing, as there is no Lease that a successor waits for."""
        return


async def run_while_leading(leadership: Leadership, work: Coroutine[Any, Any, NoReturn]) -> None:
    """Run *work*, and cancel it once leadership is lost. Raises what ends it before."""
    working = asyncio.create_task(work, name="work of the leader")
    lost = asyncio.create_task(leadership.wait_lost(), name="wait for lease loss")
    try:
        await asyncio.wait({working, lost}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        await cancel_all(working, lost)


async def run_whenever_leading(
    leadership: Leadership,
    work: Callable[[], Coroutine[Any, Any, NoReturn]],
    *,
    on_fault: Callable[[Exception], None],
    stand_down: Callable[[], None],
    pause_after_fault: float,
) -> NoReturn:
    """
    Run *work* in each term of leadership, and anew after a fault, which ends no other task.

    *stand_down* is called at the end of each term, and after a fault. *pause_after_fault*: seconds.
    """
    while True:
        await leadership.wait_acquired()
        pause = 0.0
        try:
            await run_while_leading(leadership, work())
        except Exception as err:  # noqa: BLE001  on_fault logs it
            on_fault(err)
            pause = pause_after_fault
        finally:
            stand_down()
        await asyncio.sleep(pause)


async def write_while_leading(leadership: Leadership, write: Awaitable[T], operation: str) -> T:
    """
    Wait for a write, and stop it when the lease ends.

    Raises what the write raises, and Unreachable if the lease ends first: the write may have arrived.

    A process that was paused while it connected must not send when it wakes.
    """
    try:
        # After a pause the event loop runs expired timers before it handles its sockets.
        async with asyncio.timeout_at(leadership.deadline()):
            return await write
    except TimeoutError as err:
        why = "the lease ended during the write"
        raise Unreachable(operation, message=why, may_have_applied=True) from err
