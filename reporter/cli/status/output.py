"""Print the status in the format of ``--output``."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import chain

from reporter.cli.asking.formats import Format, to_json, to_yaml
from reporter.cli.asking.terminal import Terminal
from reporter.cli.status.changes import ChangePrinter
from reporter.model.rollup.status import StatusDocument
from reporter.runtime.status.source import StatusAnswer, Target
from reporter.runtime.status.summary import describe_missing, suppressed_of
from reporter.sinks.tables.changing_table import ChangingTable
from reporter.sinks.tables.detail import render_blocking, render_set, render_suppressed
from reporter.sinks.tables.rows import (
    AGE_COLUMN,
    CLUSTER_NAME,
    cluster_rows,
    head,
    namespace_rows,
    overview_rows,
    set_rows,
)
from reporter.stages.text.phrases import human_duration


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
            self._choose_head(), ages={AGE_COLUMN}, colour=terminal.colour, with_head=with_head
        )
        self._changes = ChangePrinter(terminal, form, table)

    def print(self, answer: StatusAnswer) -> None:
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


def describe_gaps(document: StatusDocument) -> Iterator[str]:
    """
    Yield a note for each explanation why subjects are missing, or reasons were not evaluated.
    """
    for layer in document.cluster.unlisted_layers if document.cluster is not None else ():
        yield f"there may be more of the layer {layer.layer} than is shown: {layer.why}"
    unread = [s.not_judged for n in document.namespaces for s in n.inference_sets if s.not_judged]
    if unread:
        reasons = ", ".join(sorted(set(chain.from_iterable(unread))))
        yield f"not judged of {len(unread)} InferenceSets without a metrics page: {reasons}"
    if document.page_max_age_seconds is not None:
        age = human_duration(timedelta(seconds=document.page_max_age_seconds))
        yield f"metrics pages that are read through the API server may be {age} old"
    for why in dict.fromkeys(each.why for each in document.not_judged):
        reasons = ", ".join(each.reason for each in document.not_judged if each.why == why)
        yield f"not judged: {reasons}: {why}"


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
