"""
Times as the API server writes and takes them.
"""

from datetime import UTC, datetime


def micro_time(moment: datetime) -> str:
    """
    A MicroTime: exactly six fractional digits, or the API server answers 400.

    ``isoformat`` would drop them in the one case of a million where they are all zero.
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def second_time(moment: datetime) -> str:
    """
    A Time: the API server keeps whole seconds.
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def wire_time(text: str | None) -> datetime | None:
    """
    Any RFC 3339 time in UTC, whatever its fraction and offset; None if it is none.
    """
    try:
        moment = datetime.fromisoformat(text or "")
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
