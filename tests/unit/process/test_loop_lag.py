"""The loop lag: busy spans are measured, waiting does not count."""

import asyncio

import pytest

from reporter.process.loop_lag import LagSelector, run_measured
from tests.support.virtual_clock import VirtualClock


BUSY, WAIT = 0.0625, 0.25


def test_busy_spans_of_the_loop_are_reported_and_waiting_is_not():
    clock, lags = VirtualClock(), list[float]()

    def on_lag(seconds: float) -> None:
        lags.append(seconds)
        clock.now += WAIT  # as the selector waits next

    async def main(selector: LagSelector) -> None:
        selector.subscribe(on_lag)
        await asyncio.sleep(0)
        clock.now += BUSY
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    run_measured(main, lambda: clock.now)
    assert [each for each in lags if each] == [BUSY]
    assert len(lags) > 3


def test_an_exception_of_main_is_raised():
    async def main(_: LagSelector) -> None:
        raise LookupError("inside")

    with pytest.raises(LookupError, match="inside"):
        run_measured(main)
