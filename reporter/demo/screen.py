"""
How things look: kubectl's columns, wrapped on a terminal, one line per Event elsewhere.

Rule 1: the only place that prints. Rule 2: it knows no story.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from textwrap import wrap
from typing import TextIO

from reporter.demo.events import SeenEvent
from reporter.embedded import times


HEADER = ("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")
WIDTHS = (12, 10, 35, 25)
"""
Of the columns before the message, as wide as kubectl makes them for the story's Events.
"""

INDENT = WIDTHS[0]
READABLE = 60
"""
Characters; a message column narrower than this is put below its row instead.
"""

LONGEST = 100
"""
Characters of a line of a paragraph.
"""

WARNING, NORMAL, BOLD, DIM = "33", "32", "1", "2"


@dataclass(slots=True)
class Screen:
    """
    *terminal*: somebody reads along, and lines have an end.
    """

    out: TextIO
    terminal: bool = False
    coloured: bool = False
    headed: bool = False

    @classmethod
    def on(cls, out: TextIO, environ: Mapping[str, str]) -> "Screen":
        terminal = out.isatty()
        plain = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
        return cls(out, terminal, terminal and not plain)

    def say(self, text: str = "") -> None:
        """
        A paragraph.
        """
        for line in self._lines(text):
            self._print(line)

    def title(self, text: str) -> None:
        self._print("")
        self._print(self._coloured(BOLD, text))

    def command(self, text: str) -> None:
        """
        Not wrapped either.
        """
        self._print(self._coloured(BOLD, f"▶ {text}"))

    def verbatim(self, text: str) -> None:
        """
        Never wrapped, so that it can be copied.
        """
        self._print(text)

    def note(self, text: str) -> None:
        for line in self._lines(text, indent="  "):
            self._print(self._coloured(DIM, line))

    def event(self, seen: SeenEvent, now: datetime) -> None:
        if not self.headed:
            self._row(HEADER, colour=None)
            self.headed = True
        age = times.human(now - seen.last)
        colour = WARNING if seen.type == "Warning" else NORMAL
        self._row((age, seen.type, seen.reason, seen.object, seen.message), colour=colour)

    def flush(self) -> None:
        self.out.flush()

    def _row(self, cells: tuple[str, str, str, str, str], *, colour: str | None) -> None:
        before, message = cells[:4], cells[4]
        padded = [f"{cell:<{width}}" for cell, width in zip(before, WIDTHS, strict=True)]
        if not self.terminal:
            self._print("".join(_apart(padded, before)) + message)
            return
        left = sum(WIDTHS)
        beside = self._width - left >= READABLE
        fits = len(before[3]) < WIDTHS[3]
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
            self._print(self._painted(row, cells, colour) if number == 0 else row)

    def _painted(self, row: str, cells: tuple[str, ...], colour: str | None) -> str:
        """
        Type and reason stand out.
        """
        if colour is None:
            return row.rstrip()
        start, end = WIDTHS[0], WIDTHS[0] + WIDTHS[1] + len(cells[2])
        return row[:start] + self._coloured(colour, row[start:end]) + row[end:].rstrip()

    def _lines(self, text: str, *, indent: str = "") -> list[str]:
        if not text:
            return [""]
        return wrap(
            text,
            min(self._width, LONGEST) if self.terminal else LONGEST,
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


def _apart(padded: list[str], cells: tuple[str, ...]) -> list[str]:
    """
    A cell as long as its column, or longer, is kept apart from the next one.
    """
    pairs = zip(padded, cells, strict=True)
    return [each if len(cell) < len(each) else f"{cell}   " for each, cell in pairs]
