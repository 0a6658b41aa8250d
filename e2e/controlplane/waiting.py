"""Wait for a condition instead of for a while."""

import time
from collections.abc import Callable
from typing import TypeVar


FoundT = TypeVar("FoundT")


class WaitTimeout(AssertionError):
    """A condition that did not become true in time."""


def until(read: Callable[[], FoundT | None], *, within: float, what: str) -> FoundT:
    """
    Return the first true value that *read* returns. Raises WaitTimeout after *within* seconds,
    with the last value that was not true.

    The last read begins after that time: where this process or a server stood still during a read,
    what has come true meanwhile is seen.
    """
    start = time.monotonic()
    while True:
        waited = time.monotonic() - start
        found = read()
        if found:
            return found
        if waited > within:
            raise WaitTimeout(f"{what}: not within {within:g} s, last seen: {found!r}")
        # Often at first, then less: what takes seconds may be seen a fifth of a second late.
        time.sleep(min(0.05 + waited / 25, 0.2))


def until_quiet(read: Callable[[], FoundT], *, quiet: float, within: float, what: str) -> FoundT:
    """
    Return what *read* returns once that stays the same for *quiet* seconds. Raises WaitTimeout if it
    still changes after *within* seconds.
    """
    start = time.monotonic()
    while True:
        waited = time.monotonic() - start
        found = read()
        time.sleep(quiet)
        if read() == found:
            return found
        if waited > within:
            raise WaitTimeout(f"{what}: still changes after {within:g} s, last seen: {found!r}")
