"""The skew of a clock is estimated from the youngest evaluation, and decides nothing."""

import pytest

from reporter.hub.source_state import SKEW_LIMIT, WINDOW_SECONDS, is_skewed, observe


def after(*ages: float, pause: float = 30.0):
    window = None
    for number, age in enumerate(ages):
        window = observe(window, age, now=number * pause)
    assert window is not None
    return window


def test_the_youngest_evaluation_is_the_nearest():
    assert after(40.0, 7.0, 20.0).seconds == -7.0


@pytest.mark.parametrize(
    ("age", "skewed"), [(-3600.0, True), (3600.0, True), (-SKEW_LIMIT, False), (30.0, False)]
)
def test_a_skewed_clock_is_flagged_beyond_a_minute(age, skewed):
    assert is_skewed(after(age)) == skewed


def test_nothing_is_flagged_before_a_change():
    assert not is_skewed(None)


def test_a_clock_that_is_set_right_is_no_longer_flagged_after_two_windows():
    ages = (-3600.0, *(5.0,) * 4)
    assert is_skewed(after(*ages[:2], pause=WINDOW_SECONDS + 1))
    assert not is_skewed(after(*ages, pause=WINDOW_SECONDS + 1))
