"""
The longest time for which others had to wait is seen, and waiting itself does not count.
"""

import asyncio
import time

import pytest

from reporter.runtime.loop_lag import LagSelector, run_measured


HOLD, WAIT = 0.06, 0.3


def test_holds_of_the_loop_are_told_and_waiting_is_none():
    held: list[float] = []

    async def main(loop: LagSelector) -> None:
        loop.on_lag = held.append
        await asyncio.sleep(WAIT)
        time.sleep(HOLD)  # noqa: ASYNC251  what is told of
        await asyncio.sleep(0)

    run_measured(main)
    assert sum(each >= HOLD for each in held) == 1
    assert sum(held) < HOLD + WAIT


def test_what_goes_wrong_inside_comes_out():
    async def main(_: LagSelector) -> None:
        raise LookupError("inside")

    with pytest.raises(LookupError, match="inside"):
        run_measured(main)
