"""Format and parse times as the Kubernetes API writes them (RFC 3339)."""

from datetime import UTC, datetime


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
