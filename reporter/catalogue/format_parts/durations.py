"""Parse and format the catalogue's durations: 15s, 5m, 1h30m, or the word grace."""

from datetime import timedelta

from reporter.model.text.durations import DURATION_PATTERN, parse_units


GRACE = "grace"
HOLD_PATTERN = rf"^{GRACE}$|{DURATION_PATTERN}"


def parse_duration(text: str) -> timedelta | None:
    """Return the duration, or None for the startup grace. Raise ValueError for any other text."""
    return None if text == GRACE else parse_units(text)


def format_duration(value: timedelta | None) -> str:
    """Return the text that ``parse_duration`` reads as *value*."""
    if value is None:
        return GRACE
    minutes, seconds = divmod(int(value.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{n}{unit}" for n, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if n]
    return "".join(parts) or "0s"
