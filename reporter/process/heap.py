"""Give the memory that is free after the start back to the system; allocators do so late or never."""

import asyncio
import ctypes
import gc


async def trim_heap_after(started: asyncio.Event) -> None:
    """Wait for *started*, then trim the heap once, as the first lists and the first pass have ended."""
    await started.wait()
    trim_heap()


def trim_heap() -> None:
    """
    Collect garbage, return free memory and exempt what is left from later collections.

    The texts of lists leave gaps, some 10 MiB after 40,000 pods, between blocks that glibc still
    uses; it returns none of them by itself. Other C libraries have no malloc_trim.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    gc.freeze()
