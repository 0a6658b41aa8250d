"""Times that clusters report, as far as they are times."""

from datetime import UTC, datetime


MAX_TIME = 253_402_300_799
"""The last second of the year 9999, which is the last of datetime."""


def to_time(seconds: float | None) -> datetime | None:
    """
    Return a Unix time that a cluster reports; None for what is none. Clocks may have any time.
    """
    if seconds is None or not 0 <= seconds <= MAX_TIME:
        return None
    return datetime.fromtimestamp(seconds, UTC)
