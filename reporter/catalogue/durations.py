"""
Parse and format the catalogue's durations: 15s, 5m, 1h30m, or the word grace.
"""

import re
from datetime import timedelta


GRACE = "grace"
DURATION_PATTERN = r"^(?=[0-9])([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$"
HOLD_PATTERN = rf"^{GRACE}$|{DURATION_PATTERN}"


def parse_duration(text: str) -> timedelta | None:
    """
    Return the duration, or None for the startup grace. Raise ValueError for any other text.
    """
    if text == GRACE:
        return None
    match = re.match(DURATION_PATTERN, text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration")
    hours, minutes, seconds = (int(part[:-1]) if part else 0 for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def format_duration(value: timedelta | None) -> str:
    """
    Return the text that ``parse_duration`` reads as *value*.
    """
    if value is None:
        return GRACE
    minutes, seconds = divmod(int(value.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{n}{unit}" for n, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if n]
    return "".join(parts) or "0s"
