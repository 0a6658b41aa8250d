"""
Render silences, as objects with annotations and as entries of a file; add and take out entries of its text.

The comments of a file stay where possible. Pure.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from reporter.kinds.core import NAMESPACES
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.resource_kind import SILENCE_PREFIX
from reporter.model.silences import SilenceText


SILENCES = "silences"
TAGS = yaml.resolver.BaseResolver


def silence_fields(text: SilenceText) -> dict[str, str]:
    """Return the annotations of a silence by name, without SILENCE_PREFIX; empty ones are left out."""
    fields = {
        "until": text.until,
        "reasons": ",".join(text.reasons),
        "why": text.why,
        "by": text.by,
    }
    return {name: value for name, value in fields.items() if value}


def annotations(text: SilenceText) -> dict[str, Any]:
    """Return the silence as a manifest: a Namespace or an InferenceSet with its annotations alone."""
    values = {SILENCE_PREFIX + name: value for name, value in silence_fields(text).items()}
    kind = INFERENCE_SETS if text.inferenceset else NAMESPACES
    place = {"namespace": text.namespace} if text.inferenceset else {}
    return {
        "apiVersion": "/".join(filter(None, (kind.group, kind.versions[0]))),
        "kind": kind.kind,
        "metadata": {
            **place,
            "name": text.inferenceset or text.namespace,
            "annotations": values,
        },
    }


def file_entry(text: SilenceText) -> dict[str, Any]:
    """Return the silence as an entry of the file of silences; empty keys are left out."""
    place = {"namespace": text.namespace, "inferenceset": text.inferenceset}
    entry = {**place, **silence_fields(text), "reasons": list(text.reasons)}
    return {name: value for name, value in entry.items() if value}


class _List(NamedTuple):
    """
    The list of silences in a text, as nodes: what is malformed stays as it is written.

    *first* and *last*: its lines with the key, counted from 0; *last* is before *first* without a list.
    *indent*: the column of each dash; None for a list that has not a line for each entry.
    """

    entries: Sequence[yaml.Node]
    first: int
    last: int
    indent: int | None = None


def with_silence(text: str, entry: Mapping[str, Any]) -> str:
    """Return the text with one more entry at the end. *text*: of a file that can be read."""
    found, lines = _find_list(text), text.splitlines()
    shown = yaml.safe_dump({SILENCES: [dict(entry)]}, sort_keys=False, allow_unicode=True)
    entries = [*found.entries, *_find_list(shown).entries]
    if found.indent is None:
        return _edited(lines, found, entries)
    added = (" " * found.indent + line for line in shown.splitlines()[1:])
    place = found.last + 1
    return _edited(lines, found, entries, [*lines[:place], *added, *lines[place:]])


def without_silences(text: str, numbers: Collection[int]) -> str:
    """Return the text without the entries at these places, counted from 0."""
    found, lines = _find_list(text), text.splitlines()
    left = [each for place, each in enumerate(found.entries) if place not in numbers]
    if found.indent is None or not left:
        return _edited(lines, found, left)
    kept = [*lines]
    for place in sorted(numbers, reverse=True):
        node = found.entries[place]
        del kept[node.start_mark.line : _last_line(node) + 1]
    return _edited(lines, found, left, kept)


def _edited(
    lines: Sequence[str],
    found: _List,
    entries: Sequence[yaml.Node],
    *preferred: Sequence[str],
) -> str:
    """
    Return the preferred text if it has these entries, else one with the list written anew, or that alone.
    """
    alone = _render(entries)
    anew = [*lines[: found.first], *alone.splitlines(), *lines[found.last + 1 :]]
    texts = ("\n".join(each) + "\n" for each in (*preferred, anew))
    return next((each for each in texts if _reads_as(each, alone)), alone)


def _reads_as(text: str, alone: str) -> bool:
    try:
        return _render(_find_list(text).entries) == alone
    except yaml.YAMLError:
        return False


def _render(entries: Sequence[yaml.Node]) -> str:
    """Return the text of a file with these entries alone. Tags and quotes stay."""
    key = yaml.ScalarNode(TAGS.DEFAULT_SCALAR_TAG, SILENCES)
    listed = yaml.SequenceNode(TAGS.DEFAULT_SEQUENCE_TAG, list(entries), flow_style=False)
    root = yaml.MappingNode(TAGS.DEFAULT_MAPPING_TAG, [(key, listed)], flow_style=False)
    return str(yaml.serialize(root, Dumper=yaml.SafeDumper, allow_unicode=True))


def _find_list(text: str) -> _List:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else ()
    found = next(((key, value) for key, value in pairs if key.value == SILENCES), None)
    if not isinstance(root, yaml.MappingNode) or found is None:
        after = len(text.splitlines())
        return _List((), after, after - 1)
    key, value = found
    entries = value.value if isinstance(value, yaml.SequenceNode) else ()
    if entries and not value.flow_style:
        last = _last_line(entries[-1])
        return _List(entries, key.start_mark.line, last, value.start_mark.column)
    begin, end = (root, root) if root.flow_style else (key, value)
    return _List(entries, begin.start_mark.line, end.end_mark.line)


def _last_line(node: yaml.Node) -> int:
    """Return the line at which the last text of a node ends; lines after it may be comments."""
    last = node
    while isinstance(last, yaml.CollectionNode) and not last.flow_style:
        last = last.value[-1][1] if isinstance(last, yaml.MappingNode) else last.value[-1]
    # A text of several lines ends where the next line begins.
    ends_before = last.end_mark.column == 0 and last.end_mark.line > last.start_mark.line
    return int(last.end_mark.line) - ends_before
