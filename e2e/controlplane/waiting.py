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
    deadline = time.monotonic() + within
    while True:
        found = read()
        if found:
            return found
        if time.monotonic() > deadline:
            raise WaitTimeout(f"{what}: not within {within:g} s, last seen: {found!r}")
        time.sleep(0.05)
