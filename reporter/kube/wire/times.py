"""
Format and parse times of the Kubernetes API and of HTTP.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


PLAUSIBLE_YEARS = range(2000, 9000)
"""
Years that a clock may show; near the limits of datetime additions would overflow.
"""


def format_micro_time(moment: datetime) -> str:
    """
    Format a meta/v1 MicroTime. The API server refuses other than six fractional digits.

    ``isoformat`` would omit them when the microseconds are zero.
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def format_time(moment: datetime) -> str:
    """
    Format a meta/v1 Time, which has whole seconds.
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str | None) -> datetime | None:
    """
    Parse an RFC 3339 time of any precision and offset, and return it in UTC; None if invalid.
    """
    try:
        moment = datetime.fromisoformat(text or "")
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_http_date(text: str) -> datetime | None:
    """
    Parse a Date header; None if it is invalid, has no zone, or an implausible year.
    """
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo is not None and date.year in PLAUSIBLE_YEARS else None
