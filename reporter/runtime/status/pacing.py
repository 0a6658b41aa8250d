"""
The pause before a cluster is read again: the longer nothing changes, the longer it is.
"""

from datetime import timedelta


TIERS = (
    (timedelta(seconds=60), timedelta(seconds=1)),
    (timedelta(minutes=5), timedelta(seconds=15)),
    (timedelta(minutes=10), timedelta(seconds=60)),
)
"""
Pauses by the time since the last change. What changed a moment ago soon changes again.
"""

LONGEST_PAUSE = timedelta(seconds=300)


def pause_after(unchanged_for: timedelta, took: timedelta = timedelta(0)) -> timedelta:
    """
    Return the pause before the next look.

    *took*: how long the last look took; a slow server is asked for half of the time at most.
    """
    tier = next((pause for limit, pause in TIERS if unchanged_for < limit), LONGEST_PAUSE)
    return max(tier, took)
