"""
Lay out a table as kubectl does: upper-case headers, columns as wide as their content, three spaces.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from reporter.model.states import State
from reporter.model.status_document import (
    Blocking,
    ClusterStatus,
    ComponentStatus,
    HarnessStatus,
    InferenceSetStatus,
    NamespaceStatus,
    NotAvailable,
    Replicas,
    StatusDocument,
)
from reporter.model.times import format_time
from reporter.process.log_format import one_line
from reporter.status.summary import find_first_cause


# --------------------------------------------------------------------
# Format ages as kubectl does (k8s.io/apimachinery, pkg/util/duration, HumanDuration).


MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400
UNITS = {YEAR: "y", DAY: "d", HOUR: "h", MINUTE: "m", 1: "s"}

STEPS = (
    (2 * MINUTE, 1, 0),
    (10 * MINUTE, MINUTE, 1),
    (3 * HOUR, MINUTE, 0),
    (8 * HOUR, HOUR, MINUTE),
    (48 * HOUR, HOUR, 0),
    (8 * DAY, DAY, HOUR),
    (2 * YEAR, DAY, 0),
    (8 * YEAR, YEAR, DAY),
)
"""Below each limit: the unit, and the smaller one beside it; 0 for none."""


def format_age(seconds: int) -> str:
    """Return about three characters: 45s, 2m5s, 12m, 3h20m, 30h, 2d4h, 90d, 2y10d."""
    whole = max(seconds, 0)
    unit, smaller = next(((u, s) for limit, u, s in STEPS if whole < limit), (YEAR, 0))
    rest = whole % unit // smaller if smaller else 0
    return f"{whole // unit}{UNITS[unit]}" + (f"{rest}{UNITS[smaller]}" if rest else "")


GAP = "   "
LEAST_CELL = 12
"""The characters of a last cell that are shown although the terminal is too narrow."""

NOTHING = "-"
STATE_COLUMN = "STATE"

RESET = "\x1b[0m"
COLOURS: Mapping[str, str] = MappingProxyType(
    {
        State.CURRENT.word: "\x1b[32m",
        State.IN_PROGRESS.word: "\x1b[33m",
        State.UNKNOWN.word: "\x1b[35m",
        State.FAILED.word: "\x1b[31m",
        State.TERMINATING.word: "\x1b[2m",
        State.NOT_FOUND.word: "\x1b[2m",
    }
)
"""
Green, yellow, magenta, red and dim, in the colours that the user chose for them in the terminal.
"""


class TextTable:
    """
    Lines of a table whose columns never become narrower, for rows that follow later.

    *width*: of the terminal, where the last column is cut; None for the whole text.
    """

    def __init__(
        self, head: Sequence[str], *, colour: bool = False, width: int | None = None
    ) -> None:
        self._head, self._colour, self._width = tuple(head), colour, width
        self._widths = [len(cell) for cell in head]

    def render(self, rows: Iterable[Sequence[str]], *, with_head: bool = True) -> Iterator[str]:
        """
        Yield the lines of the rows, with the header first if *with_head*.

        Foreign text has its control characters escaped, and an empty cell is "-".
        """
        cells = [[one_line(cell) or NOTHING for cell in row] for row in rows]
        for row in cells:
            self._widths = [max(pair) for pair in zip(self._widths, map(len, row), strict=True)]
        for row in ([list(self._head)] if with_head else []) + cells:
            row[-1] = self._cut(row[-1])
            padded = (cell.ljust(width) for cell, width in zip(row, self._widths, strict=True))
            yield self._paint(GAP.join(padded).rstrip(), row)

    def _cut(self, cell: str) -> str:
        """Cut the last cell of a row where the terminal ends; a few characters of it remain in any case."""
        if self._width is None:
            return cell
        before = sum(self._widths[:-1]) + len(GAP) * (len(self._widths) - 1)
        room = max(self._width - before, LEAST_CELL)
        return cell if len(cell) <= room else f"{cell[: room - 1].rstrip()}…"

    def _paint(self, line: str, row: Sequence[str]) -> str:
        """Colour the state, at its place: other cells may have the same word."""
        if not self._colour or STATE_COLUMN not in self._head:
            return line
        index = self._head.index(STATE_COLUMN)
        start = sum(width + len(GAP) for width in self._widths[:index])
        end = start + len(row[index])
        return line[:start] + paint(row[index], colour=True) + line[end:]


def paint(word: str, *, colour: bool) -> str:
    """
    Return the word of a state between the ANSI codes of its colour.

    The plain word without *colour*, and a text that is none as it is.
    """
    code = COLOURS.get(word, "") if colour else ""
    return f"{code}{word}{RESET}" if code else word


# --------------------------------------------------------------------
# The columns of the status: each is declared once, and each row has them all.


CLUSTER_NAME = "cluster"
POINTER = "↳ "

AnySubject: TypeAlias = NamespaceStatus | InferenceSetStatus | ClusterStatus | HarnessStatus
RowSubject: TypeAlias = AnySubject | ComponentStatus


class StatusColumn(Struct, frozen=True):
    """
    One column. *cell*: returns its text for a subject; an empty one is shown as "-".

    *is_wide*: it is there with ``--output=wide`` alone. *is_age*: it differs each time, which is no
    change of the row.
    """

    head: str
    cell: Callable[[RowSubject], str]
    is_wide: bool = False
    is_age: bool = False


def describe_blocking(blocking: Blocking) -> str:
    """
    Return the reason that blocks a subject, or the code if none does.

    An arrow in front says that the cause is upstream: the subject's own findings only follow from it.
    """
    return (POINTER if blocking.pointer else "") + (blocking.reason or blocking.code)


def _blocking(subject: RowSubject) -> Blocking | None:
    # A Deployment of the control plane has a state alone; what blocks is the reason about it.
    return None if isinstance(subject, ComponentStatus) else subject.blocking


def _hindrance(subject: RowSubject) -> NotAvailable | None:
    """
    Return why a subject that nothing blocks is not available, if nobody wants it so.

    Of a namespace, why its first InferenceSet is not.
    """
    cause = None
    if isinstance(subject, InferenceSetStatus):
        cause = subject.not_available
    if isinstance(subject, NamespaceStatus):
        cause = find_first_cause(subject.inference_sets)
    return None if cause is None or cause.is_intended else cause


def _ready(subject: RowSubject) -> str:
    replicas = _replicas(subject)
    return _of_desired(replicas.ready, replicas) if replicas is not None else ""


def _updated(subject: RowSubject) -> str:
    replicas = _replicas(subject)
    return _of_desired(replicas.updated, replicas) if replicas is not None else ""


def _replicas(subject: RowSubject) -> Replicas | None:
    return None if isinstance(subject, ClusterStatus | HarnessStatus) else subject.replicas


def _of_desired(number: int | None, replicas: Replicas) -> str:
    return f"{NOTHING if number is None else number}/{replicas.desired}"


def _availability(subject: RowSubject) -> str:
    """Return whether an InferenceSet is available; of others, how many of theirs are."""
    if isinstance(subject, InferenceSetStatus):
        return {True: "yes", False: "no", None: "unknown"}[subject.available]
    counts = None
    if isinstance(subject, NamespaceStatus):
        counts = subject.available_counts
    if isinstance(subject, ClusterStatus):
        counts = subject.counts.available
    return "" if counts is None else f"{counts.available}/{counts.total}"


def _age(subject: RowSubject) -> str:
    blocking = _blocking(subject)
    return format_age(blocking.in_state_seconds) if blocking and blocking.since else ""


def _who_acts(subject: RowSubject) -> str:
    cause = _blocking(subject) or _hindrance(subject)
    return cause.actionability if cause is not None else ""


def _blocked_by(subject: RowSubject) -> str:
    """Return what blocks a subject, or hinders the requests of one that nothing blocks."""
    blocking = _blocking(subject)
    if blocking is not None:
        # Nothing is known to block what is Unknown; the message says what cannot be evaluated.
        return "" if subject.state is State.UNKNOWN else describe_blocking(blocking)
    cause = _hindrance(subject)
    return POINTER + (cause.reason or cause.code) if cause is not None else ""


def _stalled(subject: RowSubject) -> str:
    blocking = _blocking(subject)
    return "" if blocking is None else "yes" if blocking.stalled else "no"


def _since(subject: RowSubject) -> str:
    blocking = _blocking(subject)
    return format_time(blocking.since) if blocking and blocking.since else ""


def _code(subject: RowSubject) -> str:
    blocking = _blocking(subject)
    return blocking.code if blocking is not None else ""


def _object(subject: RowSubject) -> str:
    blocking = _blocking(subject)
    return blocking.object if blocking is not None else ""


def _message(subject: RowSubject) -> str:
    """Return the first sentence about what blocks a subject, or hinders its requests."""
    cause = _blocking(subject) or _hindrance(subject)
    first, _, rest = cause.message.partition(". ") if cause is not None else ("", "", "")
    return f"{first}." if rest else first


COLUMNS = (
    StatusColumn(STATE_COLUMN, lambda subject: subject.state.word),
    StatusColumn("READY", _ready),
    StatusColumn("AVAILABLE", _availability),
    StatusColumn("FOR", _age, is_age=True),
    StatusColumn("ACTS", _who_acts),
    StatusColumn("BLOCKED BY", _blocked_by),
    StatusColumn("UPDATED", _updated, is_wide=True),
    StatusColumn("STALLED", _stalled, is_wide=True),
    StatusColumn("SINCE", _since, is_wide=True),
    StatusColumn("CODE", _code, is_wide=True),
    StatusColumn("OBJECT", _object, is_wide=True),
    StatusColumn("MESSAGE", _message),
)
"""
All columns after the names of a subject. A column is as wide as its content; the last is cut where the
terminal ends.
"""

AGE_COLUMNS = frozenset(each.head for each in COLUMNS if each.is_age)


def head(*names: str, wide: bool) -> Sequence[str]:
    """Return the headers: *names* for the subject, then those of COLUMNS."""
    return (*names, *(each.head for each in COLUMNS if wide or not each.is_wide))


def _cells(subject: RowSubject, *, wide: bool) -> Iterator[str]:
    return (each.cell(subject) or NOTHING for each in COLUMNS if wide or not each.is_wide)


# --------------------------------------------------------------------
# The rows of the status: one for each subject.


def overview_rows(document: StatusDocument, *, wide: bool) -> Iterator[tuple[str, ...]]:
    """
    Yield a row for the control plane, unless the document leaves it out, and one for each namespace.
    """
    if document.cluster is not None:
        yield (CLUSTER_NAME, *_cells(document.cluster, wide=wide))
    for each in document.namespaces:
        yield (each.name, *_cells(each, wide=wide))


def set_rows(document: StatusDocument, *, wide: bool) -> Iterator[tuple[str, ...]]:
    """Yield a row for each InferenceSet of the document, with its namespace in the first cell."""
    for namespace in document.namespaces:
        for each in namespace.inference_sets:
            yield (namespace.name, each.name, *_cells(each, wide=wide))


def namespace_rows(namespace: NamespaceStatus, *, wide: bool) -> Iterator[tuple[str, ...]]:
    """Yield a namespace, its harness and its InferenceSets, each with its kind."""
    yield ("Namespace", namespace.name, *_cells(namespace, wide=wide))
    if namespace.harness is not None:
        yield ("Harness", namespace.name, *_cells(namespace.harness, wide=wide))
    for each in namespace.inference_sets:
        kind, _, name = each.name.rpartition("/")
        yield (kind or "InferenceSet", name, *_cells(each, wide=wide))


def cluster_rows(cluster: ClusterStatus, *, wide: bool) -> Iterator[tuple[str, ...]]:
    """Yield a row for the control plane, and one for each Deployment of it."""
    yield ("Cluster", CLUSTER_NAME, *_cells(cluster, wide=wide))
    for each in cluster.components:
        yield ("Deployment", f"{each.namespace}/{each.name}", *_cells(each, wide=wide))


# --------------------------------------------------------------------
# A table that is rendered again with each answer: first all rows, then those that changed.


TableRow: TypeAlias = tuple[str, ...]


class ChangingTable:
    """
    Lines of a table, with its header once. The columns before STATE name the subject of a row.

    *ages*: the columns that differ each time; they make no change.
    """

    def __init__(
        self,
        head: Sequence[str],
        *,
        ages: Collection[str],
        colour: bool,
        with_head: bool,
        width: int | None = None,
    ) -> None:
        self._table, self._with_head = TextTable(head, colour=colour, width=width), with_head
        self._names = head.index(STATE_COLUMN)
        self._rest = (NOTHING,) * (len(head) - self._names - 1)
        self._compared = [index for index, name in enumerate(head) if name not in ages]
        self._shown: frozenset[TableRow] = frozenset()

    def render(self, rows: Sequence[TableRow]) -> Iterator[str]:
        """Yield the lines of the rows that changed, and of those that are not there any longer."""
        changed = [row for row in rows if self._content(row) not in self._shown]
        changed += self._deleted(rows)
        self._shown = frozenset(map(self._content, rows))
        if changed:
            yield from self._table.render(changed, with_head=self._with_head)
            self._with_head = False

    def _deleted(self, rows: Sequence[TableRow]) -> Iterator[TableRow]:
        there = {row[: self._names] for row in rows}
        for name in sorted({row[: self._names] for row in self._shown} - there):
            yield (*name, State.NOT_FOUND.word, *self._rest)

    def _content(self, row: TableRow) -> TableRow:
        return tuple(row[index] for index in self._compared)
