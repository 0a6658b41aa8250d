"""
Wait for a condition instead of for a while.
"""

import time
from collections.abc import Callable
from typing import TypeVar


Found = TypeVar("Found")


class NotWithin(AssertionError):
    """
    What was waited for did not come about.
    """


def until(read: Callable[[], Found | None], *, within: float, what: str) -> Found:
    """
    The first true value that *read* returns. Raises NotWithin after *within* seconds, with the
    last value that was not true.
    """
    deadline = time.monotonic() + within
    while True:
        found = read()
        if found:
            return found
        if time.monotonic() > deadline:
            raise NotWithin(f"{what}: not within {within:g} s, last seen: {found!r}")
        time.sleep(0.05)
