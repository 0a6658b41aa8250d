"""The notation of a story for durations, times, numbered objects and changes."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from reporter.model.text.durations import parse_units
from reporter.stories.notation.errors import StoryError


MAX_DURATION = timedelta(days=7)
"""
The longest duration of a story. Discovery runs twice a minute, so a week has twenty thousand passes.
"""
RELATIVE_TIME = re.compile(r"now|(\S+) ago")
NUMBERED = re.compile(r"\{(\d{1,9})\.\.(\d{1,9})\}", re.ASCII)
MAX_NUMBERED = 10_000
"""The number of objects that one name may stand for."""
NUMBER = "{n}"


def parse_duration(text: str) -> timedelta:
    try:
        duration = parse_units(text)
    except ValueError:
        raise StoryError(f"`{text}` is no duration such as 90s, 5m or 1h30m") from None
    if duration > MAX_DURATION:
        raise StoryError(f"`{text}` is longer than {MAX_DURATION.days} days, which is the most")
    return duration


def apply_merge_patch(old: Any, new: Any) -> Any:
    """
    Apply a JSON merge patch (RFC 7396): merge objects, remove nulls, replace all other values.
    """
    if not isinstance(new, Mapping):
        return new
    before = old if isinstance(old, Mapping) else {}
    both = {
        key: apply_merge_patch(before.get(key), value)
        for key, value in new.items()
        if value is not None
    }
    return {**{key: value for key, value in before.items() if key not in new}, **both}


def resolve_times(value: Any, *, now: datetime) -> Any:
    """Replace ``now`` and ``5m ago`` by times."""
    if isinstance(value, Mapping):
        return {key: resolve_times(each, now=now) for key, each in value.items()}
    if isinstance(value, list):
        return [resolve_times(each, now=now) for each in value]
    found = RELATIVE_TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    return (now - parse_duration(found[1]) if found[1] else now).isoformat()


def expand_numbered(
    changes: Mapping[str, Any],
) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
    """
    Expand ``{1..200}`` in a name to that many objects.

    ``{n}`` in their descriptions stands for the number.
    """
    for name, words in changes.items():
        found = NUMBERED.search(name)
        if found is None:
            yield name, words
            continue
        first, last = int(found[1]), int(found[2])
        if last - first >= MAX_NUMBERED:
            raise StoryError(f"{name}: stands for more than {MAX_NUMBERED} objects")
        for number in range(first, last + 1):
            yield NUMBERED.sub(str(number), name, count=1), _with_number(words, number)


def _with_number(value: Any, number: int) -> Any:
    if isinstance(value, Mapping):
        return {
            _with_number(key, number): _with_number(each, number) for key, each in value.items()
        }
    if isinstance(value, list):
        return [_with_number(each, number) for each in value]
    return value.replace(NUMBER, str(number)) if isinstance(value, str) else value
