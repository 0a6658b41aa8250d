"""
A wait sees what came true while the process that waits stood still, and that something goes on.
"""

import itertools
import time
from collections.abc import Iterator

import pytest

from e2e.controlplane import WaitTimeout, until, until_quiet


WITHIN = 0.05


def _late(*found: str) -> Iterator[str]:
    """Yield what a read finds; each read takes longer than the whole wait may."""
    for each in found:
        time.sleep(2 * WITHIN)
        yield each


def test_what_comes_true_during_a_read_that_takes_too_long_is_seen():
    reads = _late("", "there")
    assert until(lambda: next(reads), within=WITHIN, what="it is there") == "there"


def test_a_wait_ends_with_what_was_last_seen():
    reads = _late("", "", "never read")
    with pytest.raises(WaitTimeout, match=r"it is there: not within .* last seen: ''"):
        until(lambda: next(reads), within=WITHIN, what="it is there")
    assert next(reads) == "never read"


def test_what_stays_the_same_for_a_while_is_quiet():
    reads = iter(["", "first", "again", "again"])
    found = until_quiet(lambda: next(reads), quiet=0, within=60, what="nothing is written")
    assert found == "again"


def test_what_goes_on_is_never_quiet():
    numbers = itertools.count()
    with pytest.raises(WaitTimeout, match="nothing is written: still changes after 0 s"):
        until_quiet(lambda: next(numbers), quiet=0, within=0, what="nothing is written")
