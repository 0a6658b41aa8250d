"""Format and parse times as the Kubernetes API writes them (RFC 3339)."""

import re
from datetime import UTC, datetime, timedelta


# --------------------------------------------------------------------
# Parse durations: 90s, 5m, 1h30m. A number alone is one of seconds.


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


EARLIEST_TIME = datetime(1971, 1, 1, tzinfo=UTC)
"""
The earliest believable time. Gateway API's CRDs default a transition time to 1970, and a container
that never ran is said to have started then.
"""


def format_time(moment: datetime) -> str:
    """Format a meta/v1 Time, which has whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_micro_time(moment: datetime) -> str:
    """
    Format a meta/v1 MicroTime. The API server refuses other than six fractional digits.

    ``isoformat`` would omit them when the microseconds are zero.
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str | None) -> datetime | None:
    """Parse an RFC 3339 time of any precision, in UTC where it names no zone; None if invalid."""
    try:
        moment = datetime.fromisoformat(text or "")
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_zoned_time(value: object) -> datetime | None:
    """Parse a time that must name its zone, and return it in UTC; None for any other value."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        return None if moment is None or moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
