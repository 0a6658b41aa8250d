"""Parse the times of HTTP."""

from datetime import datetime
from email.utils import parsedate_to_datetime


PLAUSIBLE_YEARS = range(2000, 9000)
"""Years that a clock may show; near the limits of datetime additions would overflow."""


def parse_http_date(text: str) -> datetime | None:
    """Parse a Date header; None if it is invalid, has no zone, or an implausible year."""
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo is not None and date.year in PLAUSIBLE_YEARS else None
