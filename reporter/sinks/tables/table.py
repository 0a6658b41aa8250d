"""
Lay out a table as kubectl does: upper-case headers, columns as wide as their content, three spaces.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from reporter.model.rollup.states import State
from reporter.sinks.log_format import one_line


GAP = "   "
NOTHING = "-"
STATE_COLUMN = "STATE"

RESET = "\x1b[0m"
COLOURS: Mapping[str, str] = MappingProxyType(
    {
        State.CURRENT: "\x1b[32m",
        State.IN_PROGRESS: "\x1b[33m",
        State.UNKNOWN: "\x1b[35m",
        State.FAILED: "\x1b[31m",
        State.TERMINATING: "\x1b[2m",
        State.NOT_FOUND: "\x1b[2m",
    }
)
"""
Green, yellow, magenta, red and dim, in the colours that the user chose for them in the terminal.
"""


class TextTable:
    """Lines of a table whose columns never become narrower, for rows that follow later."""

    def __init__(self, head: Sequence[str], *, colour: bool = False) -> None:
        self._head, self._colour = tuple(head), colour
        self._widths = [len(cell) for cell in head]

    def render(self, rows: Iterable[Sequence[str]], *, with_head: bool = True) -> Iterator[str]:
        """Yield the lines. Foreign text has its control characters escaped."""
        cells = [[one_line(cell) or NOTHING for cell in row] for row in rows]
        for row in cells:
            self._widths = [max(pair) for pair in zip(self._widths, map(len, row), strict=True)]
        for row in ([list(self._head)] if with_head else []) + cells:
            padded = (cell.ljust(width) for cell, width in zip(row, self._widths, strict=True))
            yield self._paint(GAP.join(padded).rstrip(), row)

    def _paint(self, line: str, row: Sequence[str]) -> str:
        """Colour the state, at its place: other cells may have the same word."""
        if not self._colour or STATE_COLUMN not in self._head:
            return line
        index = self._head.index(STATE_COLUMN)
        start = sum(width + len(GAP) for width in self._widths[:index])
        end = start + len(row[index])
        return line[:start] + paint(row[index], colour=True) + line[end:]


def paint(state: str, *, colour: bool) -> str:
    """Return a state in its colour."""
    code = COLOURS.get(state, "") if colour else ""
    return f"{code}{state}{RESET}" if code else state
