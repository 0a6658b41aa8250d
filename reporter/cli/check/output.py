"""Print the answers of check as a table, as JSON and as JUnit XML."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum, unique
from typing import Any

from reporter.cli.asking.formats import to_json
from reporter.cli.asking.terminal import Terminal
from reporter.cli.check.answers import CheckedCluster
from reporter.cli.status.output import describe_gaps
from reporter.model.rollup.states import State
from reporter.model.rollup.status import Blocking, StatusDocument
from reporter.runtime.status.source import Target
from reporter.runtime.status.summary import describe_missing
from reporter.sinks.junit import JUnitCase, render_junit
from reporter.sinks.tables.rows import CLUSTER_NAME, AnySubject, describe_blocking
from reporter.sinks.tables.table import NOTHING, TextTable


@unique
class CheckFormat(StrEnum):
    TABLE = "table"
    JSON = "json"
    JUNIT = "junit"


HEALTHY = frozenset({State.CURRENT, State.TERMINATING})
"""The states of subjects that fail no check; what is being deleted is no answer about health."""


def print_answers(
    clusters: Sequence[CheckedCluster], target: Target, form: CheckFormat, terminal: Terminal
) -> None:
    for each in clusters:
        prefix = f"{each.name}: " if len(clusters) > 1 else ""
        for note in _notes(each, target):
            terminal.note(f"{prefix}{note}")
    match form:
        case CheckFormat.JSON:
            terminal.print(to_json({"contexts": [_as_json(each) for each in clusters]}))
        case CheckFormat.JUNIT:
            cases = [case for each in clusters for case in _cases(each, target)]
            terminal.print(render_junit("check", cases).rstrip("\n"))
        case CheckFormat.TABLE:
            for line in _table(clusters, target, terminal):
                terminal.print(line)


def _notes(cluster: CheckedCluster, target: Target) -> Iterator[str]:
    if cluster.answer is None:
        yield cluster.error
        return
    yield from cluster.answer.notes
    if cluster.answer.document is None:
        yield describe_missing(cluster.answer, target)
    else:
        yield from describe_gaps(cluster.answer.document)


def _subjects(document: StatusDocument) -> Iterator[tuple[str, AnySubject]]:
    """
    Yield the control plane, each namespace, and each InferenceSet, by the names of the commands.
    """
    if document.cluster is not None:
        yield CLUSTER_NAME, document.cluster
    for namespace in document.namespaces:
        yield namespace.name, namespace
        for each in namespace.inference_sets:
            yield f"{namespace.name}/{each.name}", each


def _table(
    clusters: Sequence[CheckedCluster], target: Target, terminal: Terminal
) -> Iterator[str]:
    """Yield a line for each subject, with two columns for each cluster."""
    shown = [_cells(each, target) for each in clusters]
    names = list(dict.fromkeys(name for cells in shown for name in cells))
    alone = len(clusters) == 1
    head = ["NAME"]
    for each in clusters:
        head += ["STATE", "BLOCKED BY"] if alone else [each.name, "BLOCKED BY"]
    rows = [
        [name, *(cell for cells in shown for cell in cells.get(name, _ABSENT))] for name in names
    ]
    yield from TextTable(head, colour=terminal.colour and alone).render(rows)


_ABSENT = (NOTHING, NOTHING)


def _cells(cluster: CheckedCluster, target: Target) -> Mapping[str, tuple[str, str]]:
    if cluster.answer is None:
        return {str(target): ("no answer", NOTHING)}
    if cluster.answer.document is None:
        return {str(target): (State.NOT_FOUND, NOTHING)}
    return {
        name: (subject.state, _blocked_by(subject.blocking))
        for name, subject in _subjects(cluster.answer.document)
    }


def _blocked_by(blocking: Blocking | None) -> str:
    return NOTHING if blocking is None else describe_blocking(blocking)


def _as_json(cluster: CheckedCluster) -> dict[str, Any]:
    if cluster.answer is None:
        return {"context": cluster.name, "error": cluster.error}
    document: dict[str, Any] = {"context": cluster.name, "notes": list(cluster.answer.notes)}
    if cluster.answer.document is None:
        return {**document, "missing": cluster.answer.missing}
    return {**document, "status": cluster.answer.raw}


def _cases(cluster: CheckedCluster, target: Target) -> Iterator[JUnitCase]:
    if cluster.answer is None:
        yield JUnitCase(str(target), cluster.name, error=cluster.error)
    elif cluster.answer.document is None:
        yield JUnitCase(
            str(target), cluster.name, failure=describe_missing(cluster.answer, target)
        )
    else:
        for name, subject in _subjects(cluster.answer.document):
            yield JUnitCase(name, cluster.name, failure=_failure(subject))
        for layer in _unlisted(cluster.answer.document):
            yield JUnitCase(f"layer {layer[0]}", cluster.name, failure=layer[1])


def _unlisted(document: StatusDocument) -> Iterator[tuple[str, str]]:
    for each in document.cluster.unlisted_layers if document.cluster is not None else ():
        yield each.layer, f"{each.state}: {each.why}"


def _failure(subject: AnySubject) -> str:
    """Return why a subject is not Current, its state first; empty if it is."""
    if subject.state in HEALTHY:
        return ""
    blocking = subject.blocking
    if blocking is None:
        return subject.state
    lines = [f"{subject.state}: {describe_blocking(blocking)}", blocking.message, blocking.remedy]
    return "\n".join(line for line in lines if line)
