"""Intervals between looks at an object, by its age."""

from datetime import timedelta

import pytest

from reporter.controller.reread_schedule import reread_interval


@pytest.mark.parametrize(
    ("age", "interval"),
    [
        (-5, 1),
        (0, 1),
        (59, 1),
        (60, 15),
        (299, 15),
        (300, 60),
        (599, 60),
        (600, 300),
        (10**6, 300),
    ],
)
def test_an_object_is_looked_at_less_often_the_older_it_is(age: int, interval: int) -> None:
    assert reread_interval(timedelta(seconds=age)) == timedelta(seconds=interval)
