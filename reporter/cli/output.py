"""The exit codes, streams and formats of the commands that ask for the status."""

import json
import sys
from collections.abc import Mapping
from enum import IntEnum, StrEnum, unique
from typing import Any

import yaml

from reporter import PROGRAM_NAME
from reporter.model.states import State
from reporter.process.log_format import one_line
from reporter.settings import Arguments


@unique
class ExitCode(IntEnum):
    """
    The exit codes of the commands that ask for the status. The others are those of states, as in BY_STATE.

    MET: the state is Current, or what was waited for is so. NO_ANSWER: nobody answered, or, where the code
    is not that of a state, the subject is not there. USAGE: the command line, a file or the kubeconfig is
    refused. IN_PROGRESS is also that of a wait whose time is over.
    """

    MET = 0
    NO_ANSWER = 1
    USAGE = 2
    IN_PROGRESS = 3
    FAILED = 4
    UNKNOWN = 5
    GONE = 6


BY_STATE = {
    State.CURRENT: ExitCode.MET,
    State.IN_PROGRESS: ExitCode.IN_PROGRESS,
    State.FAILED: ExitCode.FAILED,
    State.UNKNOWN: ExitCode.UNKNOWN,
    State.TERMINATING: ExitCode.GONE,
    State.NOT_FOUND: ExitCode.GONE,
}


# --------------------------------------------------------------------
# Write answers to standard output, notes and progress to standard error.


CLEAR_LINE = "\r\x1b[K"
NOTE_WIDTH = 100
"""The characters of a note, which is one line, where ``-o wide`` shows it whole."""


class Terminal:
    """
    The streams of a command: standard output has the answer alone, standard error notes and progress.

    *arguments*: those of the command; with ``--quiet`` there are no notes. A note is cut to NOTE_WIDTH
    characters unless ``--output=wide`` is given, or the command has no wide form. *width*: the columns of
    the terminal; None if standard output is none.
    """

    def __init__(self, environ: Mapping[str, str], arguments: Arguments | None = None) -> None:
        given = arguments.values if arguments is not None else {}
        self._is_quiet = given.get("quiet") == "true"
        output = arguments.flags.get("output") if arguments is not None else None
        shows_wide = output is not None and Format.WIDE in output.choices
        self._cuts_notes = shows_wide and given["output"] != Format.WIDE
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.colour = sys.stdout.isatty() and not plain
        # As programs that print columns do: the variable COLUMNS, else what the terminal says.
        self.width = _columns() if sys.stdout.isatty() else None
        self._shows_progress = sys.stderr.isatty() and environ.get("TERM") != "dumb"
        self._in_progress = False
        self._noted: set[str] = set()

    def print(self, text: str) -> None:
        """
        Print a part of the answer to standard output, unbuffered; a line of progress is erased first.
        """
        self.end_progress()
        print(text, flush=True)

    def note(self, text: str) -> None:
        """
        Print a note to standard error as one line, unless it was noted before or ``--quiet`` is given.
        """
        if self._is_quiet or text in self._noted:
            return
        self._noted.add(text)
        self.end_progress()
        line = f"note: {one_line(text)}"
        if self._cuts_notes and len(line) > NOTE_WIDTH:
            line = f"{line[: NOTE_WIDTH - 1].rstrip()}…"
        print(line, file=sys.stderr, flush=True)

    def error(self, text: str) -> None:
        """
        Print a line to standard error, after the name of the program.

        Line breaks and control characters in the text are escaped.
        """
        self.end_progress()
        print(f"{PROGRAM_NAME}: {one_line(text)}", file=sys.stderr, flush=True)

    def ask(self, question: str) -> str:
        """
        Return the user's answer to a question on standard error; empty if standard input is no terminal.
        """
        if not sys.stdin.isatty():
            return ""
        print(question, end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip()

    def progress(self, done: int, total: int) -> None:
        """
        Show on one line of standard error how many kinds of the cluster were read.

        Nothing is shown unless that is a terminal which can erase the line.
        """
        if not self._shows_progress:
            return
        self._in_progress = done < total
        line = f"reading the cluster: {done} of {total} kinds" if self._in_progress else ""
        print(f"{CLEAR_LINE}{line}", end="", file=sys.stderr, flush=True)

    def end_progress(self) -> None:
        """Erase the line of progress, if one is shown, so that other text starts on a clean line."""
        if self._in_progress:
            self._in_progress = False
            print(CLEAR_LINE, end="", file=sys.stderr, flush=True)


def _columns() -> int:
    import shutil  # noqa: PLC0415  it has archives too, which take longer than many a command

    return shutil.get_terminal_size().columns


# --------------------------------------------------------------------
# The formats of ``--output``, and the two for programs.


@unique
class Format(StrEnum):
    """
    The values of ``--output``. NAME: names alone, one a line. JUNIT: XML for a pipeline.

    TABLE is the default, and WIDE has more columns.
    """

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    JUNIT = "junit"


@unique
class ListFormat(StrEnum):
    """The values of ``--output`` of ``silence list``."""

    TABLE = Format.TABLE
    JSON = Format.JSON


def to_json(raw: Any) -> str:
    """Return indented JSON. What a terminal would interpret is escaped, as JSON allows."""
    text = json.dumps(raw, indent=2, ensure_ascii=False)
    return "".join(
        each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text
    )


def to_yaml(raw: Any) -> str:
    """
    Return YAML with the keys in their order, without the last line break.

    All but ASCII is escaped, so that a terminal interprets nothing.
    """
    text: str = yaml.safe_dump(raw, sort_keys=False, allow_unicode=False, width=10_000)
    return text.rstrip("\n")
