"""Give free memory back to the system, as allocators do so late or never."""

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Final, NoReturn


CHECK_INTERVAL: Final = timedelta(minutes=1)

FREED_BLOCKS: Final = 100_000
"""
The blocks of memory that must be free again before the heap is trimmed: those of 1,000 InferenceSets with
all that belongs to them.
"""


YOUNG: Final = 100_000
"""
The new containers after which the garbage collector runs while lists or answers make millions of them and next
to no garbage. With Python's own number three full runs held the loop for 50 to 80 ms each at 110,000 objects.
"""

FREEZE_INTERVAL: Final = timedelta(seconds=0.5)
"""
The time between two steps that exempt what the lists have brought from collections: one run over all of it
at the end of the start held the loop for 100 ms.
"""


async def keep_heap_trimmed(
    started: asyncio.Event,
    compact: Callable[[], None],
    *,
    check_interval: timedelta = CHECK_INTERVAL,
) -> NoReturn:
    """
    Trim the heap once the first lists and the first pass have ended, and again after mass deletions.

    *started*: set after the first pass. *compact*: called after a mass deletion, to copy small things that
    are kept: each of them holds a page of memory, of 64 KiB in mimalloc, in which all else is free.
    """
    await _wait_for_start(started)
    await trim_heap()
    most, has_fallen = sys.getallocatedblocks(), False
    while True:
        await asyncio.sleep(check_interval.total_seconds())
        blocks = sys.getallocatedblocks()
        most = max(most, blocks)
        # Of a large stack it is a quarter, as a relist alone takes more than FREED_BLOCKS for a moment.
        fell, has_fallen = has_fallen, most - blocks >= max(FREED_BLOCKS, most // 4)
        # Once more after the last fall, of which the end may have come after the check.
        if fell or has_fallen:
            gc.unfreeze()
            compact()
            await trim_heap()
            most = sys.getallocatedblocks()


async def _wait_for_start(started: asyncio.Event) -> None:
    """
    Wait with few collections. What garbage there is until then stays as long as what is exempt with it.
    """
    with rare_collections():
        while not started.is_set():
            gc.freeze()
            with suppress(TimeoutError):
                async with asyncio.timeout(FREEZE_INTERVAL.total_seconds()):
                    await started.wait()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Run the garbage collector after YOUNG new containers, in the whole process."""
    usual = gc.get_threshold()
    gc.set_threshold(YOUNG, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


async def trim_heap() -> None:
    """
    Collect garbage, return free memory and exempt what is left from later collections.

    The texts of lists leave gaps, some 10 MiB after 40,000 pods, between blocks that glibc still
    uses; it returns none of them by itself. Other C libraries have no malloc_trim.
    """
    gc.collect()
    await asyncio.sleep(0)
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    gc.freeze()
