"""
The loop lag: busy spans are measured, waiting does not count.
"""

import asyncio
import time

import pytest

from reporter.runtime.process.loop_lag import LagSelector, run_measured


BUSY, WAIT = 0.06, 0.3


def test_busy_spans_of_the_loop_are_reported_and_waiting_is_not():
    lags: list[float] = []

    async def main(selector: LagSelector) -> None:
        selector.on_lag = lags.append
        await asyncio.sleep(WAIT)
        time.sleep(BUSY)  # noqa: ASYNC251  blocks the loop
        await asyncio.sleep(0)

    run_measured(main)
    assert sum(each >= BUSY for each in lags) == 1
    assert sum(lags) < BUSY + WAIT


def test_an_exception_of_main_is_raised():
    async def main(_: LagSelector) -> None:
        raise LookupError("inside")

    with pytest.raises(LookupError, match="inside"):
        run_measured(main)
