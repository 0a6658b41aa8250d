"""
Wait for a condition instead of for a while.
"""

import time
from collections.abc import Callable
from typing import TypeVar


FoundT = TypeVar("FoundT")


class WaitTimeout(AssertionError):
    """
    A condition that did not become true in time.
    """


def until(read: Callable[[], FoundT | None], *, within: float, what: str) -> FoundT:
    """
    Return the first true value that *read* returns. Raises WaitTimeout after *within* seconds,
    with the last value that was not true.
    """
    start = time.monotonic()
    while True:
        found = read()
        if found:
            return found
        waited = time.monotonic() - start
        if waited > within:
            raise WaitTimeout(f"{what}: not within {within:g} s, last seen: {found!r}")
        # Often at first, then less: what takes seconds may be seen a fifth of a second late.
        time.sleep(min(0.05 + waited / 25, 0.2))
