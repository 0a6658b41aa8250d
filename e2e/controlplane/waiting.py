"""Wait for a condition instead of for a while."""

import time
from collections.abc import Callable
from typing import TypeVar


FoundT = TypeVar("FoundT")

LONGEST_PAUSE = 1.0
"""Seconds by which what takes long may be seen late."""

PAUSE_OF_READ, LONGEST_OF_READ = 5, 2.0
"""The least pause after a read, as a multiple of its time, and the most seconds of that least."""


class WaitTimeout(AssertionError):
    """A condition that did not become true in time."""


def until(
    read: Callable[[], FoundT | None], *, within: float, what: str, pause: float | None = None
) -> FoundT:
    """
    Return the first true value that *read* returns. Raises WaitTimeout after *within* seconds,
    with the last value that was not true.

    *pause*: seconds between two reads; by default more and more. The last read begins after *within*:
    where this process or a server stood still during a read, what has come true meanwhile is seen.
    """
    start = time.monotonic()
    while True:
        waited = time.monotonic() - start
        found = read()
        if found:
            return found
        if waited > within:
            raise WaitTimeout(f"{what}: not within {within:g} s, last seen: {found!r}")
        took = time.monotonic() - start - waited
        time.sleep(_pause(waited, took) if pause is None else pause)


def _pause(waited: float, read: float) -> float:
    """
    Return the seconds until the next read: few at first, and more the longer the last one took, which
    costs a server as much as this process.
    """
    return max(min(0.05 + waited / 25, LONGEST_PAUSE), min(PAUSE_OF_READ * read, LONGEST_OF_READ))


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
