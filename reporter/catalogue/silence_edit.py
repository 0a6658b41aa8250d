"""Add silences to the text of a file of silences, and take them out, with its comments where possible. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import yaml


SILENCES = "silences"


def with_silence(text: str, entry: Mapping[str, Any]) -> str:
    """Return the text with one more entry at the end. *text*: of a file that can be read."""
    items = _items(text)
    added = [*_entries(text), entry]
    if not items:
        return _render(added)
    lines = text.splitlines()
    place = _last_line(items[-1]) + 1
    indent = " " * (items[-1].start_mark.column - len("- "))
    shown = yaml.safe_dump([dict(entry)], sort_keys=False, allow_unicode=True).splitlines()
    edited = [*lines[:place], *(indent + line for line in shown), *lines[place:]]
    return _checked("\n".join(edited) + "\n", added)


def without_silences(text: str, numbers: Collection[int]) -> str:
    """Return the text without the entries at these places, counted from 0."""
    items = _items(text)
    left = [each for place, each in enumerate(_entries(text)) if place not in numbers]
    if not left or not items:
        return _render(left)
    lines = text.splitlines()
    for place in sorted(numbers, reverse=True):
        del lines[items[place].start_mark.line : _last_line(items[place]) + 1]
    return _checked("\n".join(lines) + "\n", left)


def _checked(text: str, expected: Sequence[Any]) -> str:
    """Return the text if it has the entries that it shall have, else these alone, without comments."""
    try:
        return text if _entries(text) == expected else _render(expected)
    except yaml.YAMLError:
        return _render(expected)


def _render(entries: Sequence[Any]) -> str:
    content = {SILENCES: list(entries)}
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _entries(text: str) -> list[Any]:
    """Return the entries with times as they are written."""
    content = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  BaseLoader makes texts alone
    found = content.get(SILENCES) if isinstance(content, Mapping) else None
    return found if isinstance(found, list) else []


def _items(text: str) -> list[yaml.Node]:
    """Return the nodes of the entries of a list with a line for each; none of any other text."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if key.value == SILENCES and isinstance(value, yaml.SequenceNode) and not value.flow_style:
            return list(value.value)
    return []


def _last_line(node: yaml.Node) -> int:
    """Return the line at which the last text of a node ends; lines after it may be comments."""
    last = node
    while isinstance(last, yaml.CollectionNode) and not last.flow_style:
        last = last.value[-1][1] if isinstance(last, yaml.MappingNode) else last.value[-1]
    # A text of several lines ends where the next line begins.
    ends_before = last.end_mark.column == 0 and last.end_mark.line > last.start_mark.line
    return int(last.end_mark.line) - ends_before
