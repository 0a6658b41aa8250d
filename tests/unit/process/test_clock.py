import pytest

from reporter.process.clock import (
    MAX_RATE,
    MAX_STEP,
    START_ANSWERS,
    START_SECONDS,
    Clock,
    corrected_offset,
)
from reporter.process.server_time import OffsetBounds


HOUR = 3600
AHEAD = OffsetBounds(1000 + HOUR, 1001 + HOUR)
BEHIND = OffsetBounds(1000 - HOUR, 1001 - HOUR)


@pytest.mark.parametrize("bounds", [AHEAD, BEHIND])
def test_the_clock_jumps_only_at_the_start(bounds):
    def corrected(elapsed, may_jump=False):
        return corrected_offset(1000, bounds, elapsed=elapsed, may_jump=may_jump)

    assert corrected(2, may_jump=True) == bounds.nearest(1000)
    assert abs(corrected(2) - 1000) == pytest.approx(2 * MAX_RATE)
    assert abs(corrected(HOUR) - 1000) == pytest.approx(MAX_STEP)


def test_an_offset_that_agrees_stays():
    bounds = OffsetBounds(999.5, 1000.5)
    assert corrected_offset(1000, bounds, elapsed=60, may_jump=True) == 1000
    assert corrected_offset(1000, bounds, elapsed=60, may_jump=False) == 1000


def test_the_first_answers_set_the_clock_and_its_skew():
    clock, year = Clock(), 365 * 24 * HOUR
    before = clock.now()
    clock.correct(OffsetBounds(clock.offset + year, clock.offset + year + 1, spread=20))
    assert (clock.now() - before).total_seconds() == pytest.approx(year, abs=HOUR)
    assert clock.skew == pytest.approx(year, abs=HOUR)
    assert clock.spread == 20


def test_the_clock_never_runs_backwards():
    offset, at, times = 1000.0, 0.0, []
    for n in range(2000):
        elapsed = (n % 7) / 3
        at += elapsed
        offset = corrected_offset(offset, BEHIND, elapsed=elapsed, may_jump=False)
        times.append(at + offset)
    assert times == sorted(times)


class SteadyClock(Clock):
    """A clock whose seconds the test sets."""

    at = 0.0

    def seconds(self) -> float:
        return self.at


def test_a_clock_that_got_few_answers_may_still_jump():
    clock = SteadyClock()
    right, hour_off = clock.offset, OffsetBounds(clock.offset + HOUR, clock.offset + HOUR + 1)
    for _ in range(START_ANSWERS - 1):
        clock.correct(OffsetBounds(right, right + 1))
        clock.at += START_SECONDS
    clock.correct(hour_off)
    assert clock.offset == hour_off.earliest
    clock.at += START_SECONDS
    clock.correct(OffsetBounds(right, right + 1))
    assert clock.offset == hour_off.earliest - START_SECONDS * MAX_RATE
