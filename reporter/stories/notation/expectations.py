"""Read what a story expects, in the form in which a replay gives it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from reporter.catalogue.format_parts.durations import format_duration
from reporter.stories.notation.syntax import parse_duration
from reporter.stories.notation.times import START


def since_start(moment: datetime) -> str:
    """Return the time since the start of a replay, such as ``1m30s``."""
    return format_duration(timedelta(seconds=round((moment - START).total_seconds())))


def expected_announcements(story: Mapping[str, Any]) -> list[tuple[timedelta, str]]:
    """Return the announcements that a story expects, with their times since the start."""
    return [
        (parse_duration(at), line)
        for at, lines in (story.get("announced") or {}).items()
        for line in ([lines] if isinstance(lines, str) else lines)
    ]


def expected_lines(story: Mapping[str, Any]) -> list[str]:
    """Return the expected announcements as lines with their time."""
    return [f"{since_start(START + at)} {line}" for at, line in expected_announcements(story)]


def expected_statuses(story: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
    """Return the lines of the status that a story expects, by time since the start and subject."""
    statuses = story.get("status") or {}
    return {since_start(START + parse_duration(at)): lines for at, lines in statuses.items()}


def matches_line(line: str, expected: str) -> bool:
    """Return whether a line is the expected one. An expected line that ends in … is a prefix."""
    if expected.endswith("…"):
        return line.startswith(expected.removesuffix("…"))
    return line == expected
