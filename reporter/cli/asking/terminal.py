"""Write answers to standard output, notes and progress to standard error."""

import sys
from collections.abc import Mapping

from reporter import PROGRAM_NAME
from reporter.sinks.log_format import one_line


CLEAR_LINE = "\r\x1b[K"


class Terminal:
    """Notes and progress go to standard error, so that standard output is the answer alone."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.colour = sys.stdout.isatty() and not plain
        self._shows_progress = sys.stderr.isatty() and environ.get("TERM") != "dumb"
        self._in_progress = False
        self._noted: set[str] = set()

    def print(self, text: str) -> None:
        self.end_progress()
        print(text, flush=True)

    def note(self, text: str) -> None:
        """Print a note, once."""
        if text not in self._noted:
            self._noted.add(text)
            self.error(text)

    def error(self, text: str) -> None:
        self.end_progress()
        print(f"{PROGRAM_NAME}: {one_line(text)}", file=sys.stderr, flush=True)

    def progress(self, done: int, total: int) -> None:
        """Show how much of the cluster was read; nobody reads that in a file."""
        if not self._shows_progress:
            return
        self._in_progress = done < total
        line = f"reading the cluster: {done} of {total} kinds" if self._in_progress else ""
        print(f"{CLEAR_LINE}{line}", end="", file=sys.stderr, flush=True)

    def end_progress(self) -> None:
        if self._in_progress:
            self._in_progress = False
            print(CLEAR_LINE, end="", file=sys.stderr, flush=True)
