"""Estimate the skew of a cluster's clock, which is shown and decides nothing."""

from reporter.stages.fleet.records import SkewWindow


SKEW_LIMIT = 60.0
"""Seconds of skew from which on it is flagged."""

WINDOW_SECONDS = 300.0


def observe(before: SkewWindow | None, age: float, *, now: float) -> SkewWindow:
    """
    Return the window with one more *age*: of an evaluation at the moment at which it was first seen.
    """
    if before is None:
        return SkewWindow(now, age)
    if now - before.started > WINDOW_SECONDS:
        return SkewWindow(now, age, before.smallest)
    return before._replace(smallest=min(before.smallest, age))


def is_skewed(window: SkewWindow | None) -> bool:
    """
    Return whether the skew is beyond the limit. An old evaluation alone makes no clock wrong.

    A clock that is behind and an evaluation that is late look the same, until one comes in time.
    """
    return window is not None and abs(window.seconds) > SKEW_LIMIT
