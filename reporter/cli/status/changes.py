"""Print an answer, and of those that follow only what changed."""

from collections.abc import Sequence
from typing import Any

from reporter.cli.asking.formats import Format
from reporter.cli.asking.terminal import Terminal
from reporter.sinks.tables.changing_table import ChangingTable, Row


AGES = frozenset(
    {"inStateSeconds", "evaluatedAt", "heardSecondsAgo", "skewSeconds", "at", "seconds"}
)
"""The keys that differ in each answer with the same content."""


class ChangePrinter:
    """
    Prints tables, texts, and that a subject is missing, each if it differs from what was printed last.
    """

    def __init__(self, terminal: Terminal, form: Format, table: ChangingTable) -> None:
        self._terminal, self._form, self._table = terminal, form, table
        self._last: Any = None

    @property
    def is_first(self) -> bool:
        """Return whether nothing was printed yet."""
        return self._last is None

    def print_rows(self, rows: Sequence[Row]) -> None:
        for line in self._table.render(rows):
            self._terminal.print(line)
        self._last = rows

    def print_text(self, text: str, raw: Any) -> None:
        """Print the text of an answer. *raw*: its content, which decides whether it changed."""
        content = _without_ages(raw)
        if content != self._last and text:
            separated = not self.is_first and self._form is not Format.JSON
            self._terminal.print(f"---\n{text}" if separated else text)
        self._last = content

    def print_missing(self, text: str) -> None:
        if self._last != text:
            self._terminal.error(f"not found: {text}")
        self._last = text


def _without_ages(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k not in AGES}
        return {key: _without_ages(each) for key, each in kept.items()}
    if isinstance(value, list | tuple):
        return [_without_ages(each) for each in value]
    return value
