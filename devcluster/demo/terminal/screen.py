"""
The output of the demo: kubectl's columns, wrapped on a terminal and one line per Event elsewhere.

Rule 1: only this file prints. Rule 2: it knows nothing of the scenarios.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from textwrap import wrap
from typing import TextIO

from devcluster.demo.events import SeenEvent
from devcluster.schema import times


HEADER = ("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")
COLUMN_WIDTHS = (12, 10, 35, 25)
"""Widths of the columns before the message, as kubectl chooses them for the demo's Events."""

INDENT = COLUMN_WIDTHS[0]
MIN_MESSAGE_WIDTH = 60
"""Characters; a narrower message column is printed below its row instead."""

MAX_LINE_LENGTH = 100
"""Characters of a line of a paragraph."""

WARNING, NORMAL, BOLD, DIM = "33", "32", "1", "2"


@dataclass(slots=True)
class Screen:
    """Prints to *out*; on a terminal, lines are wrapped at its width."""

    out: TextIO
    terminal: bool = False
    coloured: bool = False
    header_printed: bool = False

    @classmethod
    def for_stream(cls, out: TextIO, environ: Mapping[str, str]) -> "Screen":
        terminal = out.isatty()
        plain = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
        return cls(out, terminal, terminal and not plain)

    def paragraph(self, text: str = "") -> None:
        for line in self._lines(text):
            self._print(line)

    def title(self, text: str) -> None:
        self._print("")
        self._print(self._coloured(BOLD, text))

    def command(self, text: str) -> None:
        """Print a command without wrapping it."""
        self._print(self._coloured(BOLD, f"▶ {text}"))

    def verbatim(self, text: str) -> None:
        """Print a line without wrapping it, so that it can be copied."""
        self._print(text)

    def note(self, text: str) -> None:
        for line in self._lines(text, indent="  "):
            self._print(self._coloured(DIM, line))

    def event(self, seen: SeenEvent, now: datetime) -> None:
        if not self.header_printed:
            self._row(HEADER, colour=None)
            self.header_printed = True
        age = times.human_duration(now - seen.last)
        colour = WARNING if seen.type == "Warning" else NORMAL
        self._row((age, seen.type, seen.reason, seen.object, seen.message), colour=colour)

    def flush(self) -> None:
        self.out.flush()

    def _row(self, cells: tuple[str, str, str, str, str], *, colour: str | None) -> None:
        before, message = cells[:4], cells[4]
        padded = [f"{cell:<{width}}" for cell, width in zip(before, COLUMN_WIDTHS, strict=True)]
        if not self.terminal:
            self._print("".join(_pad_long_cells(padded, before)) + message)
            return
        left = sum(COLUMN_WIDTHS)
        beside = self._width - left >= MIN_MESSAGE_WIDTH
        fits = len(before[3]) < COLUMN_WIDTHS[3]
        if not beside and len("".join(padded).rstrip()) > self._width:
            rows = ["".join(padded[:3]), " " * INDENT + before[3]]
        else:
            rows = ["".join(padded)]
        indent = left if beside else INDENT
        lines = wrap(message, max(self._width - indent, 20), break_on_hyphens=False)
        if beside and fits:
            rows[-1] += lines.pop(0)
        rows += [" " * indent + line for line in lines]
        for number, row in enumerate(rows):
            self._print(self._coloured_row(row, cells, colour) if number == 0 else row)

    def _coloured_row(self, row: str, cells: tuple[str, ...], colour: str | None) -> str:
        """Colour the type and the reason of a row."""
        if colour is None:
            return row.rstrip()
        start, end = COLUMN_WIDTHS[0], COLUMN_WIDTHS[0] + COLUMN_WIDTHS[1] + len(cells[2])
        return row[:start] + self._coloured(colour, row[start:end]) + row[end:].rstrip()

    def _lines(self, text: str, *, indent: str = "") -> list[str]:
        if not text:
            return [""]
        return wrap(
            text,
            min(self._width, MAX_LINE_LENGTH) if self.terminal else MAX_LINE_LENGTH,
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )

    @property
    def _width(self) -> int:
        return shutil.get_terminal_size().columns

    def _coloured(self, colour: str, text: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self.coloured else text

    def _print(self, line: str) -> None:
        print(line, file=self.out, flush=True)


def _pad_long_cells(padded: list[str], cells: tuple[str, ...]) -> list[str]:
    """Add a gap after cells that fill their column."""
    pairs = zip(padded, cells, strict=True)
    return [each if len(cell) < len(each) else f"{cell}   " for each, cell in pairs]
