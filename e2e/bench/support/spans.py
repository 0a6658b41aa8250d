"""Count what happens within a span of time."""

from collections.abc import Sequence


def most_within(times: Sequence[float], seconds: float) -> int:
    """Return how many of these moments, in order, the busiest span of *seconds* has."""
    most = begin = 0
    for end, at in enumerate(times):
        while times[begin] <= at - seconds:
            begin += 1
        most = max(most, end - begin + 1)
    return most
