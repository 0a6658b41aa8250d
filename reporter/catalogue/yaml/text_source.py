"""The form of a text in its file, to name the line and column of a character of it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import yaml


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


class TextSource(NamedTuple):
    """
    The rows in which a text is written.

    *is_exact*: characters of a row are those of the text; false for a text with escapes.
    """

    rows: tuple[Row, ...]
    is_exact: bool = True

    def locate(self, line: int, column: int) -> tuple[int, int]:
        """
        Return the line and column in the file of those in the text; all count from 1, 0 is unknown.
        """
        before = [r for r in self.rows if r.text_line == line and r.offset < max(column, 1)]
        if not before:
            return self.rows[0].line + 1, 0
        row = before[-1]
        exact = self.is_exact and column > 0
        return row.line + 1, row.column + column - row.offset if exact else 0


def text_source(node: yaml.ScalarNode, lines: Sequence[str]) -> TextSource:
    """Return how a text is written. *lines*: those of its file."""
    start, end = node.start_mark, node.end_mark
    first = Row(start.line, start.column + (node.style in {"'", ESCAPING}))
    if node.style in {LITERAL, FOLDED}:
        begin = start.line + 1
        block = lines[begin : end.line + 1]
        return TextSource(tuple(_block_rows(block, begin, node.style)) or (first,))
    if start.line == end.line:
        exact = node.style != ESCAPING or end.column - start.column == len(node.value) + 2
        return TextSource((first,), exact)
    written = lines[start.line : end.line + 1]
    exact = node.style != ESCAPING or not any("\\" in each for each in written)
    return TextSource((first, *_flow_rows(first, written)), exact)


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
            kept = 1 if style == LITERAL else _kept_ends(before, text, empty)
            text_line += kept
            offset = 0 if kept else offset + len(before) + 1
        yield Row(begin + number, indent, text_line, offset)
        before, empty = text, 0


def _kept_ends(before: str, text: str, empty: int) -> int:
    """
    Return how many ends of lines folding keeps between two lines with *empty* ones between them.
    """
    is_indented = before.startswith(" ") or text.startswith(" ")
    return empty + is_indented


def _flow_rows(first: Row, written: Iterable[str]) -> Iterator[Row]:
    """Yield the further rows of a text that is no block: they are joined by spaces."""
    offset = -first.column
    for number, each in enumerate(written):
        if number:
            yield Row(first.line + number, len(each) - len(each.lstrip()), 1, offset)
            offset += len(each.strip()) + 1
        else:
            offset += len(each.rstrip()) + 1
