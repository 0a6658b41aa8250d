"""Parse durations: 90s, 5m, 1h30m. A number alone is one of seconds."""

import re
from datetime import timedelta


DURATION_PATTERN = r"^(?=[0-9])([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$"


def parse_units(text: str) -> timedelta:
    """Return the duration of a text with units. Raise ValueError for any other text."""
    match = re.fullmatch(DURATION_PATTERN, text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration")
    hours, minutes, seconds = (int(part[:-1]) if part else 0 for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def parse_seconds_or_units(text: str) -> timedelta:
    """
    Return the duration of a text such as 90, 90s or 1m30s. Raise ValueError for any other text.
    """
    if re.fullmatch(r"[0-9]{1,8}", text):
        return timedelta(seconds=int(text))
    return parse_units(text)


def format_seconds(value: timedelta) -> str:
    """Return the number of seconds, without any exponent."""
    seconds = value.total_seconds()
    return str(int(seconds)) if seconds == int(seconds) else str(seconds)
