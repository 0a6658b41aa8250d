"""Give the memory that is free after the start back to the system; allocators do so late or never."""

import asyncio
import ctypes
import gc


THRESHOLD_OF_START = 50_000
"""New containers after which garbage is collected during the start; else 700 or, in later versions, 2,000."""


async def trim_heap_after(started: asyncio.Event) -> None:
    """Wait for *started*, then trim the heap once, as the first lists and the first pass have ended."""
    thresholds = gc.get_threshold()
    # What the first lists make lives on: collections in between find nothing, and take a twentieth of a start.
    gc.set_threshold(THRESHOLD_OF_START, *thresholds[1:])
    try:
        await started.wait()
    finally:
        gc.set_threshold(*thresholds)
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
