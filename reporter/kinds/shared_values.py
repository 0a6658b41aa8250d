"""Values that many objects have, each kept in memory once, and how those of objects that are gone are forgotten."""

from collections.abc import Callable
from datetime import datetime


TIME_SLOTS = 4093
_LAST_TIMES: list[datetime | None] = [None] * TIME_SLOTS
"""
The last time of each slot, which the second of the day tells. Found by that and not by hash, which takes
longer for an aware time than decoding it. A prime, so that full hours apart are different slots.
"""

_CLEARS: list[Callable[[], None]] = []


def shared_time(time: datetime) -> datetime:
    """
    Return the same object for equal times, as far as is known.

    The times of Kubernetes are whole seconds: conditions of one object, and objects that were
    created together, share many of them. Without this they are a tenth of a large store.
    """
    slot = (time.hour * 3600 + time.minute * 60 + time.second) % TIME_SLOTS
    last = _LAST_TIMES[slot]
    if last is not None and last == time:
        return last
    _LAST_TIMES[slot] = time
    return time


def register_cache(clear: Callable[[], None]) -> None:
    """Register a cache of shared values by the function that empties it."""
    _CLEARS.append(clear)


def forget_shared_values() -> None:
    """Empty the caches of shared values; objects that have the values keep them."""
    _LAST_TIMES[:] = [None] * TIME_SLOTS
    for clear in _CLEARS:
        clear()
