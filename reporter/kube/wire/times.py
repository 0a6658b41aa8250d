"""
Times as the API server writes and takes them.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


PLAUSIBLE_YEARS = range(2000, 9000)
"""
In which a clock may be: at both ends of time, nothing can be added any more.
"""


def format_micro_time(moment: datetime) -> str:
    """
    A MicroTime: exactly six fractional digits, or the API server answers 400.

    ``isoformat`` would drop them in the one case of a million where they are all zero.
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def format_time(moment: datetime) -> str:
    """
    A Time: the API server keeps whole seconds.
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str | None) -> datetime | None:
    """
    Any RFC 3339 time in UTC, whatever its fraction and offset; None if it is none.
    """
    try:
        moment = datetime.fromisoformat(text or "")
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_http_date(text: str) -> datetime | None:
    """
    That of a Date header; None if it is none, has no zone or is of another age.
    """
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo is not None and date.year in PLAUSIBLE_YEARS else None
