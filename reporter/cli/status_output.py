"""Print an answer; of those that follow, only what changed."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from itertools import chain
from typing import Any, Generic, TypeVar

from msgspec import Struct

from reporter.cli.output import BY_STATE, ExitCode, Format, Terminal, to_json, to_yaml
from reporter.model.sanitize import abbreviate_list, human_duration
from reporter.model.states import State
from reporter.model.status_document import StatusDocument
from reporter.settings import Arguments
from reporter.status.detail_table import render_blocking, render_set, render_suppressed
from reporter.status.source import (
    ASK_INTERVAL,
    AnswerSource,
    AnyAnswer,
    StatusAnswer,
    StatusQueryFailed,
    Target,
)
from reporter.status.summary import describe_missing, suppressed_of
from reporter.status.table import (
    AGE_COLUMNS,
    CLUSTER_NAME,
    ChangingTable,
    TableRow,
    cluster_rows,
    head,
    namespace_rows,
    overview_rows,
    set_rows,
)


AGES = frozenset(
    {
        *(
            "inStateSeconds",
            "answeredSeconds",
            "evaluatedAt",
            "lastUpdateAgeSeconds",
            "skewSeconds",
        ),
        *("at", "seconds"),
    }
)
"""The keys of an answer whose values change although nothing else does, such as ages."""


class ChangePrinter:
    """
    Prints tables, texts, and that a subject is missing, each if it differs from what was printed last.
    """

    def __init__(self, terminal: Terminal, form: Format, table: ChangingTable) -> None:
        self._terminal, self._form, self._table = terminal, form, table
        self._last: Any = None

    @property
    def is_first(self) -> bool:
        """True until something was printed, or noted as missing."""
        return self._last is None

    def print_rows(self, rows: Sequence[TableRow]) -> None:
        """Print the rows that differ from the ones before, and those of subjects that are gone."""
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
        """Print to standard error that the subject is not there, unless that was printed last."""
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


# --------------------------------------------------------------------
# Print the status in the format of ``--output``.


class Printer:
    """
    Prints the answers to one question; after the first one, only what changed.

    *lists_sets*: the InferenceSets of all namespaces are asked for. *with_head*: tables have headers.
    """

    def __init__(
        self,
        terminal: Terminal,
        target: Target,
        form: Format,
        *,
        lists_sets: bool = False,
        with_head: bool = True,
    ) -> None:
        self._terminal, self._target, self._form = terminal, target, form
        self._lists_sets, self._wide = lists_sets, form is Format.WIDE
        table = ChangingTable(
            self._choose_head(),
            ages=AGE_COLUMNS,
            colour=terminal.colour,
            with_head=with_head,
            width=terminal.width,
        )
        self._changes = ChangePrinter(terminal, form, table)

    def print(self, answer: StatusAnswer) -> None:
        """
        Print an answer in the format of ``--output``, its notes to standard error.

        With ``--watch`` only what changed since the last answer; a missing subject is an error.
        """
        for note in answer.notes:
            self._terminal.note(note)
        if answer.document is None:
            self._changes.print_missing(describe_missing(answer, self._target))
            return
        for note in describe_gaps(answer.document):
            self._terminal.note(note)
        match self._form:
            case Format.JSON:
                self._changes.print_text(to_json(answer.raw), answer.raw)
            case Format.YAML:
                self._changes.print_text(to_yaml(answer.raw), answer.raw)
            case Format.NAME:
                names = "\n".join(_names(answer, self._target, self._lists_sets))
                self._changes.print_text(names, answer.raw)
            case _ if self._target.name:
                self._changes.print_text("\n".join(self._detail(answer)), answer.raw)
            case _:
                self._print_table(answer)

    def _detail(self, answer: StatusAnswer) -> Iterator[str]:
        namespace = answer.namespace
        for each in namespace.inference_sets if namespace is not None else ():
            yield from render_set(self._target.namespace, each, colour=self._terminal.colour)

    # ------------------------------------------------------------ tables

    def _choose_head(self) -> Sequence[str]:
        if self._lists_sets:
            return head("NAMESPACE", "NAME", wide=self._wide)
        if self._target.is_everything:
            return head("NAME", wide=self._wide)
        return head("KIND", "NAME", wide=self._wide)

    def _print_table(self, answer: StatusAnswer) -> None:
        rows, is_first = [*self._rows(answer)], self._changes.is_first
        self._changes.print_rows(rows)
        if is_first and not rows:
            self._terminal.note("there is no InferenceSet in any workload namespace")
        if is_first:
            for line in self._why(answer):
                self._terminal.print(line)

    def _rows(self, answer: StatusAnswer) -> Iterator[tuple[str, ...]]:
        document = answer.document
        if document is None:
            return
        if self._lists_sets:
            yield from set_rows(document, wide=self._wide)
        elif self._target.is_everything:
            yield from overview_rows(document, wide=self._wide)
        elif answer.namespace is not None:
            yield from namespace_rows(answer.namespace, wide=self._wide)
        elif document.cluster is not None:
            yield from cluster_rows(document.cluster, wide=self._wide)

    def _why(self, answer: StatusAnswer) -> Iterator[str]:
        """Yield what blocks the one subject that was asked about."""
        if self._target.is_everything or answer.document is None:
            return
        subject = answer.namespace or answer.document.cluster
        if subject is not None and subject.blocking is not None:
            yield ""
            yield from render_blocking(subject.blocking)
            yield from render_suppressed(suppressed_of(subject))


MAX_NAMED = 2
"""The reasons that a note names; the document has all of them."""


def describe_gaps(document: StatusDocument) -> Iterator[str]:
    """
    Yield notes on what a document may lack: subjects, permissions, reasons, and recent metrics pages.
    """
    for layer in document.cluster.unlisted_layers if document.cluster is not None else ():
        yield f"there may be more of the layer {layer.layer} than is shown: {layer.why}"
    rights = document.cluster.unobserved.missing_rights if document.cluster is not None else ()
    if rights:
        yield f"the reporter lacks permissions: {', '.join(rights)}"
    unread = [s.not_judged for n in document.namespaces for s in n.inference_sets if s.not_judged]
    if unread:
        reasons = abbreviate_list([*{*chain.from_iterable(unread)}], MAX_NAMED)
        yield f"not judged of {len(unread)} InferenceSets without a metrics page: {reasons}"
    if document.page_max_age_seconds is not None:
        age = human_duration(timedelta(seconds=document.page_max_age_seconds))
        yield f"metrics pages that are read through the API server may be {age} old"
    for why in dict.fromkeys(each.why for each in document.not_judged):
        number = sum(each.why == why for each in document.not_judged)
        what = "1 reason is" if number == 1 else f"{number} reasons are"
        yield f"{what} not judged: {why}; -o json names them"


def _names(answer: StatusAnswer, target: Target, lists_sets: bool) -> Iterator[str]:
    """Yield the names as the commands take them: cluster, NS and NS/SET."""
    document = answer.document
    if document is None:
        return
    if document.cluster is not None and not lists_sets:
        yield CLUSTER_NAME
    for namespace in document.namespaces:
        if not target.name and not lists_sets:
            yield namespace.name
        if lists_sets or target.namespace:
            yield from (f"{namespace.name}/{each.name}" for each in namespace.inference_sets)


# --------------------------------------------------------------------
# Print the first answer to a question, and with ``--watch`` each change until a signal.


Asked = TypeVar("Asked")


class Question(Struct, Generic[Asked, AnyAnswer], frozen=True):
    """
    A question about *target* to the source that *open* opens, and what is done with each answer.

    *show*: prints an answer; of one that is not the first, only the difference to the last. *worst*: the
    worst state of what was asked about.
    """

    open: Callable[[], Awaitable[AnswerSource[Asked, AnyAnswer]]]
    target: Asked
    show: Callable[[AnyAnswer], None]
    worst: Callable[[AnyAnswer], State]


async def show_answers(
    question: Question[Asked, AnyAnswer], arguments: Arguments, terminal: Terminal
) -> ExitCode:
    """
    Print the first answer and, with ``--watch``, each change until a signal; return the exit code.

    The code is MET, or NO_ANSWER if the subject is not there; with ``--exit-code`` that of the worst state.
    Raises StatusQueryFailed; while it watches, only if that cannot pass.
    """
    source = await question.open()
    try:
        answer = await source.ask(question.target)
        try:
            question.show(answer)
        except BrokenPipeError:
            # With --exit-code the code is the answer, whoever reads the lines.
            if not arguments.is_set("exit-code"):
                raise
        if arguments.is_set("watch"):
            await _watch(question, source, terminal, answer)
    finally:
        await source.close()
    if arguments.is_set("exit-code"):
        return BY_STATE[question.worst(answer)]
    return ExitCode.MET if answer.document is not None else ExitCode.NO_ANSWER


async def _watch(
    question: Question[Asked, AnyAnswer],
    source: AnswerSource[Asked, AnyAnswer],
    terminal: Terminal,
    answer: AnyAnswer,
) -> None:
    pause, last_error = ASK_INTERVAL, ""
    while True:
        await asyncio.sleep(pause.total_seconds())
        pause, error = ASK_INTERVAL, ""
        try:
            answer = await source.ask(question.target, after=answer)
        except StatusQueryFailed as err:
            if not err.may_pass:
                raise
            pause, error = err.pause, str(err)
            if error != last_error:
                terminal.error(error)
        else:
            question.show(answer)
        last_error = error
