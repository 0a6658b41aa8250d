"""
Parsing and formatting of times as Go does it, with Go's error texts, and of kubectl's durations.
"""

import re
from datetime import UTC, datetime, timedelta


MICRO_TIME_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"
TIME_LAYOUT = "2006-01-02T15:04:05Z07:00"

_LAYOUT_PARTS: tuple[tuple[str, str], ...] = (
    ("2006", r"\d{4}"), ("-", "-"), ("01", r"\d\d"), ("-", "-"), ("02", r"\d\d"), ("T", "T"),
    ("15", r"\d\d"), (":", ":"), ("04", r"\d\d"), (":", ":"), ("05", r"\d\d"),
)  # fmt: skip
_ZONE = ("Z07:00", r"Z|[+-]\d\d:\d\d")
_LAYOUTS = {
    MICRO_TIME_LAYOUT: (*_LAYOUT_PARTS, (".000000", r"\.\d{6}"), _ZONE),
    TIME_LAYOUT: (*_LAYOUT_PARTS, ("", r"(?:[.,]\d+)?"), _ZONE),
}
_DURATION_STEPS: tuple[tuple[int, int, str], ...] = (
    # upper bound in seconds, seconds of the unit, units to print
    (2 * 60, 1, "s"),
    (10 * 60, 60, "m+s"),
    (3 * 3600, 60, "m"),
    (8 * 3600, 3600, "h+m"),
    (48 * 3600, 3600, "h"),
    (8 * 86400, 86400, "d+h"),
    (2 * 365 * 86400, 86400, "d"),
    (8 * 365 * 86400, 365 * 86400, "y+d"),
)


class TimeParseError(ValueError):
    """A time that cannot be parsed, with Go's error text."""


def parse_time(text: str, layout: str) -> datetime:
    """Parse a time of Go's *layout* and return it in UTC. Raise TimeParseError otherwise."""
    rest = text
    for name, pattern in _LAYOUTS[layout]:
        found = re.match(pattern, rest)
        if found is None:
            raise TimeParseError(
                f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{name}"'
            )
        rest = rest[found.end() :]
    if rest:
        raise TimeParseError(f'parsing time "{text}": extra text: "{rest}"')
    try:
        return datetime.fromisoformat(text.replace(",", ".")).astimezone(UTC)
    except ValueError:
        raise TimeParseError(f'parsing time "{text}": day out of range') from None


def format_micro_time(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def format_time(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_stored_time(text: str | None) -> datetime | None:
    """Parse the time of a stored object, which was validated before."""
    return datetime.fromisoformat(text) if text else None


def human_duration(span: timedelta) -> str:
    """
    Format a duration as kubectl does: 5s, 4m43s, 37m, 2h5m, 3d4h.

    The steps are those of HumanDuration in k8s.io/apimachinery/pkg/util/duration.
    """
    whole = int(span.total_seconds())
    if whole < 0:
        return "0s" if whole >= -1 else "<invalid>"
    for below, unit, shape in _DURATION_STEPS:
        if whole < below:
            return _format_duration(whole, unit, shape)
    return f"{whole // (365 * 86400)}y"


def _format_duration(whole: int, unit: int, shape: str) -> str:
    first, _, second = shape.partition("+")
    smaller = {"s": 1, "m": 60, "h": 3600, "d": 86400}.get(second, 1)
    rest = whole % unit // smaller if second else 0
    return f"{whole // unit}{first}{rest}{second}" if rest else f"{whole // unit}{first}"


def human_duration_since(text: str | None, now: datetime) -> str:
    when = parse_stored_time(text)
    return human_duration(now - when) if when else "<unknown>"
