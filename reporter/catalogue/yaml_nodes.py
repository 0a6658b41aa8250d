"""Read a YAML file into nodes that know their lines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import yaml
from msgspec import Struct, field

from reporter.catalogue.problems import Place, Problem
from reporter.catalogue.regular_file import read_regular_file
from reporter.model.yaml_nesting import LOADER, TooDeepError, check_nesting


# --------------------------------------------------------------------
# The form of a text in its file, to name the line and column of a character of it.


FOLDED = ">"
LITERAL = "|"
ESCAPING = '"'


class Row(NamedTuple):
    """
    A part of a text on one line of its file; *line* and *column* count from 0.

    *text_line* and *offset*: where it is in the text, from 1 and from 0.
    """

    line: int
    column: int
    text_line: int = 1
    offset: int = 0


class TextSource(Struct, frozen=True):
    """A text as it is written in its file, which has these *lines*. Its rows are found for an error alone."""

    node: yaml.ScalarNode
    lines: Sequence[str]

    def locate(self, line: int, column: int) -> tuple[int, int]:
        """
        Return the line and column in the file of those in the text; all count from 1, 0 is unknown.
        """
        rows, is_exact = _find_rows(self.node, self.lines)
        before = [r for r in rows if r.text_line == line and r.offset < max(column, 1)]
        if not before:
            return rows[0].line + 1, 0
        row = before[-1]
        exact = is_exact and column > 0
        return row.line + 1, row.column + column - row.offset if exact else 0


def _find_rows(node: yaml.ScalarNode, lines: Sequence[str]) -> tuple[tuple[Row, ...], bool]:
    """
    Return the rows of a text, and whether their characters are those of the text: not of one with escapes.
    """
    start, end = node.start_mark, node.end_mark
    first = Row(start.line, start.column + (node.style in {"'", ESCAPING}))
    if node.style in {LITERAL, FOLDED}:
        begin = start.line + 1
        block = lines[begin : end.line + 1]
        return tuple(_block_rows(block, begin, node.style)) or (first,), True
    if start.line == end.line:
        exact = node.style != ESCAPING or end.column - start.column == len(node.value) + 2
        return (first,), exact
    written = lines[start.line : end.line + 1]
    exact = node.style != ESCAPING or not any("\\" in each for each in written)
    return (first, *_flow_rows(first, written)), exact


def _block_rows(block: Sequence[str], begin: int, style: str) -> Iterator[Row]:
    """
    Yield the rows of a block. Folding keeps the end of a line beside a more indented or empty one.
    """
    indents = (len(each) - len(each.lstrip(" ")) for each in block if each.strip())
    indent = next(indents, 0)
    text_line, offset, before, empty = 1, 0, "", 0
    for number, each in enumerate(block):
        text = each[indent:]
        if style == FOLDED and not text.strip():
            empty += 1
            continue
        if number:
            is_indented = before.startswith(" ") or text.startswith(" ")
            kept = 1 if style == LITERAL else empty + is_indented
            text_line += kept
            offset = 0 if kept else offset + len(before) + 1
        yield Row(begin + number, indent, text_line, offset)
        before, empty = text, 0


def _flow_rows(first: Row, written: Iterable[str]) -> Iterator[Row]:
    """Yield the further rows of a text that is no block: they are joined by spaces."""
    offset = -first.column
    for number, each in enumerate(written):
        if number:
            yield Row(first.line + number, len(each) - len(each.lstrip()), 1, offset)
            offset += len(each.strip()) + 1
        else:
            offset += len(each.rstrip()) + 1


MAX_SHOWN_CHARACTERS = 60
"""Number of characters of a value that an error shows at most."""

MAX_NUMBER_BITS = 64
MAX_FILE_BYTES = 2 * 1024 * 1024
"""The size of a file; a ConfigMap holds one MiB. Larger files take seconds to parse."""

MAX_VALUES = 200_000
"""The number of values in a file, an alias counted with all that it stands for."""

MERGE_TAG = "tag:yaml.org,2002:merge"
TEXT_TAG = "tag:yaml.org,2002:str"


class Scalar(Struct, frozen=True):
    """
    A value that is neither a list nor a mapping.

    *source*: how a text is written, to find a place in it; None for a value that is no text.

    *problem*: why the value could not be read, among the problems of the file as well.
    """

    place: Place
    value: object
    source: TextSource | None = None
    problem: Problem | None = None


class Items(Struct, frozen=True):
    """A list. *place*: the line at which it begins."""

    place: Place
    items: tuple["YamlNode", ...]


class Fields(Struct, frozen=True):
    """A mapping. *keys*: the place of each key, which errors about its value name."""

    place: Place
    values: Mapping[str, "YamlNode"] = field(default_factory=lambda: MappingProxyType({}))
    keys: Mapping[str, Place] = field(default_factory=lambda: MappingProxyType({}))

    def where(self, key: str) -> Place:
        """Return the line of a key; that of the mapping if it does not have the key."""
        return self.keys.get(key, self.place)

    def items_of(self, key: str) -> tuple["YamlNode", ...]:
        """Return the items of the list under a key; none if there is no list."""
        listed = self.values.get(key)
        return listed.items if isinstance(listed, Items) else ()

    def merged(self, over: "Fields") -> "Fields":
        """Return a mapping in which the keys of *over* replace ours, with their own lines."""
        return Fields(self.place, {**self.values, **over.values}, {**self.keys, **over.keys})


YamlNode: TypeAlias = Scalar | Items | Fields


def compose(path: Path, problems: list[Problem]) -> YamlNode | None:
    """Return the root node, or None after adding to *problems* why the file cannot be read."""
    top = Place(str(path), 1)
    try:
        text = _read_text(path)
    except (OSError, UnicodeDecodeError) as err:
        why = err.strerror if isinstance(err, OSError) else "it is not UTF-8"
        problems.append(Problem(top, f"cannot be read: {why}"))
    except TooLargeFile as err:
        problems.append(Problem(err.place or top, str(err)))
    else:
        return compose_text(text, str(path), problems)
    return None


def compose_text(text: str, name: str, problems: list[Problem]) -> YamlNode | None:
    """
    Return the root node of a text, or None after adding to *problems* why it cannot be read.

    *name*: the file that problems are said to be in.
    """
    top = Place(name, 1)
    try:
        check_nesting(text)
        root = yaml.compose(text, Loader=LOADER)
        if root is None:
            return Fields(top)
        return _Composer(name, text.splitlines(), problems).node(root)
    except TooLargeFile as err:
        problems.append(Problem(err.place or top, str(err)))
    except yaml.YAMLError as err:
        problems.append(_syntax_problem(err, name))
    return None


def from_plain(value: object, place: Place) -> YamlNode:
    """
    Return the node of a value that was read before. *place*: what errors about all of it name.
    """
    if isinstance(value, Mapping):
        values = {str(key): from_plain(each, place) for key, each in value.items()}
        return Fields(place, values, dict.fromkeys(values, place))
    if isinstance(value, list | tuple):
        return Items(place, tuple(from_plain(each, place) for each in value))
    return Scalar(place, value)


def value_problems(node: YamlNode) -> Iterator[Problem]:
    """Yield why values of a node could not be read."""
    if isinstance(node, Scalar):
        if node.problem is not None:
            yield node.problem
        return
    for each in node.items if isinstance(node, Items) else node.values.values():
        yield from value_problems(each)


def to_plain(node: YamlNode) -> Any:
    """Return the value of a node without its lines."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Items):
        return [to_plain(item) for item in node.items]
    return {key: to_plain(value) for key, value in node.values.items()}


class TooLargeFile(Exception):
    """The error of a file with more than is read. *place*: where that begins, if it is known."""

    def __init__(self, text: str, place: Place | None = None) -> None:
        super().__init__(text)
        self.place = place


def _read_text(path: Path) -> str:
    content = read_regular_file(path, MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise TooLargeFile(f"is larger than {MAX_FILE_BYTES // 1024} KiB; divide it")
    return content.decode("utf-8")


def _syntax_problem(err: yaml.YAMLError, file: str) -> Problem:
    mark = getattr(err, "problem_mark", None)
    why = getattr(err, "problem", None) or str(err).splitlines()[0]
    text = why if isinstance(err, TooDeepError) else f"is not YAML: {why}"
    return Problem(Place(file, mark.line + 1 if mark else 1), text)


class _Composer:
    """
    Convert PyYAML's nodes to ours; report duplicate keys and aliases that contain themselves.
    """

    def __init__(self, file: str, lines: Sequence[str], problems: list[Problem]):
        self._file = file
        self._lines = lines
        self._problems = problems
        self._constructor = yaml.constructor.SafeConstructor()
        self._above: set[int] = set()
        self._values_left = MAX_VALUES

    def node(self, raw: yaml.Node) -> YamlNode:
        self._values_left -= 1
        if self._values_left < 0:
            text = f"the file has more than {MAX_VALUES} values, counted with what aliases repeat"
            raise TooLargeFile(text, self._place(raw))
        if isinstance(raw, yaml.ScalarNode):
            return self._scalar(raw)
        if id(raw) in self._above:
            text = "this alias contains itself; write its value out"
            self._problems.append(Problem(self._place(raw), text))
            return Scalar(self._place(raw), None)
        self._above.add(id(raw))
        try:
            return self._collection(raw)
        finally:
            self._above.discard(id(raw))

    def _collection(self, raw: yaml.Node) -> YamlNode:
        if isinstance(raw, yaml.SequenceNode):
            return Items(self._place(raw), tuple(self.node(item) for item in raw.value))
        return self._fields(raw)

    def _scalar(self, raw: yaml.ScalarNode) -> Scalar:
        if raw.tag == TEXT_TAG:
            return Scalar(self._place(raw), raw.value, TextSource(raw, self._lines))
        shown = f"`{raw.value[:MAX_SHOWN_CHARACTERS]}`"
        try:
            value = self._constructor.construct_object(raw)
        except (yaml.YAMLError, ValueError, LookupError, AttributeError):
            # PyYAML indexes and unpacks without a look where a tag is written, as in `!!int ""`.
            return self._broken(raw, f"{shown} is no {raw.tag}; quote it if it is text")
        if isinstance(value, int) and value.bit_length() > MAX_NUMBER_BITS:
            return self._broken(raw, f"{shown} is too large a number; quote it if it is text")
        return Scalar(self._place(raw), value)

    def _fields(self, raw: yaml.Node) -> Fields:
        values: dict[str, YamlNode] = {}
        keys: dict[str, Place] = {}
        merged = Fields(self._place(raw))
        for key_node, value in raw.value:
            key, place = str(key_node.value), self._place(key_node)
            if key_node.tag == MERGE_TAG:
                merged = self._merge(value).merged(merged)
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self._problems.append(Problem(place, "a key must be a plain word"))
                continue
            if key in keys:
                text = f"duplicate key `{key}`, first in line {keys[key].line}; remove one"
                self._problems.append(Problem(place, text))
                continue
            values[key], keys[key] = self.node(value), place
        own = Fields(merged.place, values, keys)
        return merged.merged(own) if merged.keys else own

    def _merge(self, raw: yaml.Node) -> Fields:
        """
        Return what a merge key (``<<``, YAML 1.1) adds: a mapping, or several, the first of which wins.
        """
        node = self.node(raw)
        merged = Fields(node.place)
        for each in node.items[::-1] if isinstance(node, Items) else (node,):
            if isinstance(each, Fields):
                merged = merged.merged(each)
            else:
                text = "`<<` merges mappings; name one, or a list of them"
                self._problems.append(Problem(each.place, text))
        return merged

    def _broken(self, raw: yaml.Node, text: str) -> Scalar:
        problem = Problem(self._place(raw), text)
        self._problems.append(problem)
        return Scalar(problem.place, None, problem=problem)

    def _place(self, raw: yaml.Node) -> Place:
        return Place(self._file, raw.start_mark.line + 1)
