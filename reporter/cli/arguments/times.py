"""Read the flags of commands whose value is a duration or a moment."""

from datetime import datetime, timedelta

from reporter.cli.arguments.parser import Arguments
from reporter.model.text.durations import parse_seconds_or_units
from reporter.model.text.times import parse_zoned_time
from reporter.settings import SettingsError


def parse_time_flag(arguments: Arguments, name: str) -> timedelta:
    """
    Return the duration that a flag gives: 90s, 1h30m, or a number of seconds. Raises SettingsError.
    """
    text = arguments.values[name]
    try:
        return parse_seconds_or_units(text)
    except ValueError:
        raise SettingsError(
            f"--{name}={text}", "must be a duration such as 90s, 10m or 1h30m, or seconds"
        ) from None


def parse_moment(text: str) -> datetime | None:
    """Return the moment that ``--at`` gives, None for the empty text. Raises SettingsError."""
    if not text:
        return None
    found = parse_zoned_time(text)
    if found is None:
        raise SettingsError(f"--at={text}", "must be a time such as 2026-01-31T12:00:00Z")
    return found
