"""
The time until the next look at an object that is not yet as wanted.

A young object changes by the second, an old one hardly. Its age counts from its creation: a time of
a condition may be wrong or missing, and is new again with each flap.
"""

from datetime import timedelta


LOOK_INTERVALS: tuple[tuple[timedelta, timedelta], ...] = (
    (timedelta(seconds=60), timedelta(seconds=1)),
    (timedelta(minutes=5), timedelta(seconds=15)),
    (timedelta(minutes=10), timedelta(seconds=60)),
)
"""Ages below which an interval applies, youngest first."""

LONGEST_LOOK_INTERVAL = timedelta(seconds=300)


def look_interval(age: timedelta) -> timedelta:
    """
    Return how long to wait after the last event of an object, or the last look at it.

    *age*: since its creation; of a missing object, since it was first missed.
    """
    return next(
        (interval for below, interval in LOOK_INTERVALS if age < below), LONGEST_LOOK_INTERVAL
    )
