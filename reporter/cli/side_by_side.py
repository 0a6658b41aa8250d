"""The answers of several clusters, or of one, as a table, JSON or JUnit XML, and their exit code."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reporter.cli.output import BY_STATE, ExitCode, Format, Terminal, to_json
from reporter.cli.status_output import describe_gaps
from reporter.model.states import State
from reporter.model.status_document import (
    InferenceSetStatus,
    NamespaceStatus,
    NotAvailable,
    StatusDocument,
)
from reporter.settings.errors import ConfigurationError
from reporter.status.junit import JUnitCase, render_junit
from reporter.status.source import OpenSource, StatusAnswer, StatusQueryFailed, Target
from reporter.status.summary import answering_state, describe_missing, summarize
from reporter.status.table import CLUSTER_NAME, NOTHING, AnySubject, TextTable, describe_blocking


# --------------------------------------------------------------------
# Ask each cluster for its status, all at the same time.


class ClusterAnswer(Struct, frozen=True):
    """The answer of one cluster. *error*: why there is none."""

    name: str
    answer: StatusAnswer | None = None
    error: str = ""

    def worst(self, target: Target) -> State | None:
        """
        Return the state of the target, and for everything the worst of all; None without an answer.
        """
        return None if self.answer is None else summarize(self.answer, target).worst


async def ask_side_by_side(
    openers: Mapping[str, OpenSource],
    target: Target,
    form: Format,
    terminal: Terminal,
    *,
    fails: bool,
) -> ExitCode:
    """
    Ask all clusters at the same time, print the answers, and return the exit code.

    *openers*: by the name of the cluster. The code is NO_ANSWER if any cluster does not answer; else that
    of the worst state if it *fails*, or MET. Raises SettingsError or ConfigurationError.
    """
    tasks = [
        asyncio.create_task(_ask(name, open_source, target), name=f"ask {name}")
        for name, open_source in openers.items()
    ]
    try:
        answers = [await task for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    _print_answers(answers, target, form, terminal)
    states = [each.worst(target) for each in answers]
    known = [state for state in states if state is not None]
    if len(known) < len(states):
        return ExitCode.NO_ANSWER
    # What has failed is said whatever else there is.
    worst = max(known, key=lambda state: (state is State.FAILED, state.severity))
    return BY_STATE[worst] if fails else ExitCode.MET


async def _ask(name: str, open_source: OpenSource, target: Target) -> ClusterAnswer:
    try:
        source = await open_source()
        try:
            return ClusterAnswer(name, await source.ask(target))
        finally:
            await source.close()
    except StatusQueryFailed as err:
        return ClusterAnswer(name, error=str(err))
    except ConfigurationError as err:
        # That of a dump names it already.
        if str(err).startswith(name):
            raise
        raise ConfigurationError(f"{name}: {err}") from err


# --------------------------------------------------------------------
# Print the answers as a table, as JSON and as JUnit XML.


HEALTHY = frozenset({State.CURRENT, State.TERMINATING})
"""The states of subjects that fail no check; what is being deleted is no answer about health."""


def _print_answers(
    clusters: Sequence[ClusterAnswer], target: Target, form: Format, terminal: Terminal
) -> None:
    for each in clusters:
        prefix = f"{each.name}: " if len(clusters) > 1 else ""
        for note in _notes(each, target):
            terminal.note(f"{prefix}{note}")
    match form:
        case Format.JSON:
            terminal.print(to_json({"contexts": [_as_json(each) for each in clusters]}))
        case Format.JUNIT:
            cases = [case for each in clusters for case in _cases(each, target)]
            terminal.print(render_junit("check", cases).rstrip("\n"))
        case _:
            for line in _table(clusters, target, terminal):
                terminal.print(line)


def _notes(cluster: ClusterAnswer, target: Target) -> Iterator[str]:
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


def _table(clusters: Sequence[ClusterAnswer], target: Target, terminal: Terminal) -> Iterator[str]:
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


def _cells(cluster: ClusterAnswer, target: Target) -> Mapping[str, tuple[str, str]]:
    if cluster.answer is None:
        return {str(target): ("no answer", NOTHING)}
    if cluster.answer.document is None:
        return {str(target): (State.NOT_FOUND.word, NOTHING)}
    return {
        name: (subject.state.word, _blocked_by(subject))
        for name, subject in _subjects(cluster.answer.document)
    }


def _blocked_by(subject: AnySubject) -> str:
    """Return what blocks a subject; of one that is Current, why it is not available."""
    cause = _why_not_answering(subject)
    if subject.blocking is None and cause is not None:
        return f"not available: {cause.reason or cause.code}"
    return NOTHING if subject.blocking is None else describe_blocking(subject.blocking)


def _why_not_answering(subject: AnySubject) -> NotAvailable | None:
    """Return the cause for which an InferenceSet that is Current fails a check; None if it passes."""
    if not isinstance(subject, InferenceSetStatus) or answering_state(subject) is State.CURRENT:
        return None
    return subject.not_available if subject.state is State.CURRENT else None


def _as_json(cluster: ClusterAnswer) -> dict[str, Any]:
    if cluster.answer is None:
        return {"context": cluster.name, "error": cluster.error}
    document: dict[str, Any] = {"context": cluster.name, "notes": list(cluster.answer.notes)}
    if cluster.answer.document is None:
        return {**document, "missing": cluster.answer.missing}
    return {**document, "status": cluster.answer.raw}


def _cases(cluster: ClusterAnswer, target: Target) -> Iterator[JUnitCase]:
    if cluster.answer is None:
        yield JUnitCase(str(target), cluster.name, error=cluster.error)
    elif cluster.answer.document is None:
        yield JUnitCase(
            str(target), cluster.name, failure=describe_missing(cluster.answer, target)
        )
    else:
        for name, subject in _subjects(cluster.answer.document):
            is_target = name == str(target)
            failure = _failure(subject, is_target=is_target)
            yield JUnitCase(name, cluster.name, failure=failure)
        whole = cluster.answer.document.cluster
        for layer in whole.unlisted_layers if whole is not None else ():
            why = f"{layer.state.word}: {layer.why}"
            yield JUnitCase(f"layer {layer.layer}", cluster.name, failure=why)


def _failure(subject: AnySubject, *, is_target: bool) -> str:
    """
    Return why a subject fails a check, that first; empty if it passes.

    What is being deleted fails it alone. A namespace fails for its harness, and for what may be in it
    unseen: its models have cases of their own.
    """
    cause = _why_not_answering(subject)
    if cause is not None:
        head = f"not available: {cause.reason or cause.code}"
        return "\n".join(line for line in (head, cause.message, cause.remedy) if line)
    if subject.state is State.TERMINATING and is_target:
        return f"{subject.state.word}: it is being deleted"
    if isinstance(subject, NamespaceStatus):
        if subject.harness is not None and subject.harness.state not in HEALTHY:
            return _failure(subject.harness, is_target=False)
        if any(answering_state(each) not in HEALTHY for each in subject.inference_sets):
            return ""
    if subject.state in HEALTHY:
        return ""
    blocking = subject.blocking
    if blocking is None:
        return subject.state.word
    lines = [
        f"{subject.state.word}: {describe_blocking(blocking)}",
        blocking.message,
        blocking.remedy,
    ]
    return "\n".join(line for line in lines if line)
