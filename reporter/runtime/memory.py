"""
Memory that is free goes back to the system, which allocators do late or never.
"""

import asyncio
import ctypes
import gc
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import NoReturn


async def keep_low(
    first: asyncio.Event, repacking: Callable[[], Iterable[None]], *, every: timedelta
) -> NoReturn:
    """
    After the *first* pass and, when there was something to repack, from time to time.

    What the first lists brought stays; the collector need not walk it again and again.
    """
    await first.wait()
    _give_back()
    gc.freeze()
    while True:
        await asyncio.sleep(every.total_seconds())
        repacked = False
        for _ in repacking():
            repacked = True
            await asyncio.sleep(0)
        if repacked:
            _give_back()


def _give_back() -> None:
    """
    Collecting empties Python's stocks of spare objects, each of which may pin an arena.

    The texts of lists leave gaps of megabytes between what glibc still uses, and it returns none of
    them by itself; other C libraries have no such call.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
