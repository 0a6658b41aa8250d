"""
Print answers in the format of ``--output``.
"""

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum, unique
from itertools import chain
from typing import Any

import yaml

from reporter.cli.status.terminal import Terminal
from reporter.model.rollup.states import State
from reporter.model.rollup.status import StatusDocument
from reporter.runtime.status.source import StatusAnswer, Target
from reporter.runtime.status.summary import describe_missing
from reporter.sinks.tables.detail import render_blocking, render_set
from reporter.sinks.tables.rows import (
    AGE_COLUMN,
    CLUSTER_NAME,
    cluster_rows,
    head,
    namespace_rows,
    overview_rows,
    set_rows,
)
from reporter.sinks.tables.table import NOTHING, TextTable


@unique
class Format(StrEnum):
    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


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
        self._lists_sets, self._with_head = lists_sets, with_head
        self._wide = form is Format.WIDE
        self._head = self._choose_head()
        self._table = TextTable(self._head, colour=terminal.colour)
        self._shown: frozenset[tuple[str, ...]] = frozenset()
        self._last: Any = None

    def print(self, answer: StatusAnswer) -> None:
        for note in answer.notes:
            self._terminal.note(note)
        if answer.document is None:
            self._print_missing(answer)
            return
        for note in describe_gaps(answer.document):
            self._terminal.note(note)
        match self._form:
            case Format.JSON:
                self._print_text(to_json(answer.raw), answer)
            case Format.YAML:
                self._print_text(to_yaml(answer.raw), answer)
            case Format.NAME:
                names = "\n".join(_names(answer, self._target, self._lists_sets))
                self._print_text(names, answer)
            case _ if self._target.name:
                self._print_text("\n".join(self._detail(answer)), answer)
            case _:
                self._print_table(answer)

    def _print_missing(self, answer: StatusAnswer) -> None:
        if self._last != answer.missing:
            self._terminal.error(f"not found: {describe_missing(answer, self._target)}")
        self._last = answer.missing

    def _print_text(self, text: str, answer: StatusAnswer) -> None:
        content = without_ages(answer.raw)
        if content != self._last and text:
            separated = self._last is not None and self._form is not Format.JSON
            self._terminal.print("\n".join((*(["---"] if separated else []), text)))
        self._last = content

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
        rows = [*self._rows(answer)]
        is_first = self._last is None
        changed = [row for row in rows if self._content(row) not in self._shown]
        changed += self._gone(rows)
        self._shown = frozenset(map(self._content, rows))
        if changed:
            for line in self._table.render(changed, with_head=self._with_head):
                self._terminal.print(line)
            self._with_head = False
        if is_first and not rows:
            self._terminal.note("there is no InferenceSet in any workload namespace")
        if is_first:
            for line in self._why(answer):
                self._terminal.print(line)
        self._last = self._shown

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

    def _gone(self, rows: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
        """
        Yield a row for each subject that was shown and is not there any longer.
        """
        names = self._head.index("STATE")
        there = {row[:names] for row in rows}
        rest = (NOTHING,) * (len(self._head) - names - 1)
        for name in sorted({row[:names] for row in self._shown} - there):
            yield (*name, State.NOT_FOUND, *rest)

    def _content(self, row: tuple[str, ...]) -> tuple[str, ...]:
        """
        Leave out the age, which is another one each time.
        """
        ages = self._head.index(AGE_COLUMN)
        return (*row[:ages], *row[ages + 1 :])

    def _why(self, answer: StatusAnswer) -> Iterator[str]:
        """
        Yield what blocks the one subject that was asked about.
        """
        if self._target.is_everything or answer.document is None:
            return
        subject = answer.namespace or answer.document.cluster
        if subject is not None and subject.blocking is not None:
            yield ""
            yield from render_blocking(subject.blocking)


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
    for why in dict.fromkeys(each.why for each in document.not_judged):
        reasons = ", ".join(each.reason for each in document.not_judged if each.why == why)
        yield f"not judged: {reasons}: {why}"


def _names(answer: StatusAnswer, target: Target, lists_sets: bool) -> Iterator[str]:
    """
    Yield the names as the commands take them: cluster, NS and NS/SET.
    """
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


def to_json(raw: Any) -> str:
    """
    Return indented JSON. What a terminal would interpret is escaped, as JSON allows.
    """
    text = json.dumps(raw, indent=2, ensure_ascii=False)
    return "".join(
        each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text
    )


def to_yaml(raw: Any) -> str:
    text: str = yaml.safe_dump(raw, sort_keys=False, allow_unicode=False, width=10_000)
    return text.rstrip("\n")


AGES = frozenset(
    {"inStateSeconds", "evaluatedAt", "heardSecondsAgo", "skewSeconds", "at", "seconds"}
)


def without_ages(value: Any) -> Any:
    """
    Leave out what is another one in each answer with the same content.
    """
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k not in AGES}
        return {key: without_ages(each) for key, each in kept.items()}
    if isinstance(value, list | tuple):
        return [without_ages(each) for each in value]
    return value
