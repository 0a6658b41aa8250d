"""
The notation of a case file for durations, times, numbered objects and changes.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta


DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
RELATIVE_TIME = re.compile(r"now|(\S+) ago")
NUMBERED = re.compile(r"\{(\d+)\.\.(\d+)\}")
NUMBER = "{n}"


def parse_duration(text: str) -> timedelta:
    found = DURATION.fullmatch(str(text))
    assert found is not None, f"{text!r} is no duration such as 90s, 5m or 1h30m"
    hours, minutes, seconds = (int(each or 0) for each in found.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def apply_merge_patch(old, new):
    """
    Apply a JSON merge patch (RFC 7396): null removes.
    """
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return new
    both = {
        key: apply_merge_patch(old.get(key), value)
        for key, value in new.items()
        if value is not None
    }
    return {**{key: value for key, value in old.items() if key not in new}, **both}


def resolve_times(value, *, now: datetime):
    """
    Replace ``now`` and ``5m ago`` by times.
    """
    if isinstance(value, Mapping):
        return {key: resolve_times(each, now=now) for key, each in value.items()}
    if isinstance(value, list):
        return [resolve_times(each, now=now) for each in value]
    found = RELATIVE_TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    return (now - parse_duration(found[1]) if found[1] else now).isoformat()


def expand_numbered(changes: Mapping) -> Iterator[tuple[str, Mapping | None]]:
    """
    Expand ``{1..200}`` in a name to that many objects, and ``{n}`` in their descriptions to the
    number.
    """
    for name, words in changes.items():
        found = NUMBERED.search(name)
        if found is None:
            yield name, words
            continue
        for number in range(int(found[1]), int(found[2]) + 1):
            yield NUMBERED.sub(str(number), name, count=1), _with_number(words, number)


def _with_number(value, number: int):
    if isinstance(value, Mapping):
        return {
            _with_number(key, number): _with_number(each, number) for key, each in value.items()
        }
    if isinstance(value, list):
        return [_with_number(each, number) for each in value]
    return value.replace(NUMBER, str(number)) if isinstance(value, str) else value
