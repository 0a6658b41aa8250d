"""A table that is rendered again with each answer: first all rows, then those that changed."""

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from reporter.model.rollup.states import State
from reporter.sinks.tables.table import NOTHING, STATE_COLUMN, TextTable


Row: TypeAlias = tuple[str, ...]


class ChangingTable:
    """
    Lines of a table, with its header once. The columns before STATE name the subject of a row.

    *ages*: the columns that differ each time; they make no change.
    """

    def __init__(
        self, head: Sequence[str], *, ages: Collection[str], colour: bool, with_head: bool
    ) -> None:
        self._table, self._with_head = TextTable(head, colour=colour), with_head
        self._names = head.index(STATE_COLUMN)
        self._rest = (NOTHING,) * (len(head) - self._names - 1)
        self._compared = [index for index, name in enumerate(head) if name not in ages]
        self._shown: frozenset[Row] = frozenset()

    def render(self, rows: Sequence[Row]) -> Iterator[str]:
        """Yield the lines of the rows that changed, and of those that are not there any longer."""
        changed = [row for row in rows if self._content(row) not in self._shown]
        changed += self._deleted(rows)
        self._shown = frozenset(map(self._content, rows))
        if changed:
            yield from self._table.render(changed, with_head=self._with_head)
            self._with_head = False

    def _deleted(self, rows: Sequence[Row]) -> Iterator[Row]:
        there = {row[: self._names] for row in rows}
        for name in sorted({row[: self._names] for row in self._shown} - there):
            yield (*name, State.NOT_FOUND, *self._rest)

    def _content(self, row: Row) -> Row:
        return tuple(row[index] for index in self._compared)
