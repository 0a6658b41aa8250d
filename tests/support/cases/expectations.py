"""
The expectations of a case file, in the form in which a replay gives its result.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from tests.support.builders import NOON
from tests.support.cases.syntax import parse_duration


def since_start(moment: datetime) -> str:
    """
    Return the time since the start of a replay, such as ``1m30s``.
    """
    left = round((moment - NOON).total_seconds())
    parts = (left // 3600, "h"), (left % 3600 // 60, "m"), (left % 60, "s")
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"


def expected_announcements(case: Mapping) -> list[tuple[timedelta, str]]:
    """
    Return the announcements that a case expects, with their times since the start.
    """
    return [
        (parse_duration(at), line)
        for at, lines in (case.get("announced") or {}).items()
        for line in ([lines] if isinstance(lines, str) else lines)
    ]


def expected_lines(case: Mapping) -> list[str]:
    """
    Return the expected announcements as lines with their time.
    """
    return [f"{since_start(NOON + at)} {line}" for at, line in expected_announcements(case)]


def expected_statuses(case: Mapping) -> Mapping[str, Mapping[str, str]]:
    """
    Return the lines of the status that a case expects, by time since the start and subject.
    """
    statuses = case.get("status") or {}
    return {since_start(NOON + parse_duration(at)): lines for at, lines in statuses.items()}


def matches_line(line: str, expected_: str) -> bool:
    """
    Return whether a line is the expected one. An expected line that ends in … is a prefix.
    """
    if expected_.endswith("…"):
        return line.startswith(expected_.removesuffix("…"))
    return line == expected_
