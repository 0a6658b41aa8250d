"""
Memory that is free goes back to the system, which allocators do late or never.
"""

import ctypes
import gc


def trim_heap() -> None:
    """
    What there is now stays: the collector need not walk it again and again.

    The texts of lists have left gaps, some 10 MiB of 40,000 pods, between what glibc still uses, and
    it returns none of them by itself; other C libraries have no such call.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    gc.freeze()
