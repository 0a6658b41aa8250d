"""The command ``check``: ask, print as text, JSON or JUnit, and turn the answer into an exit code."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum, unique
from typing import Any

from msgspec import Struct

from reporter.cli.asking import BY_STATE, ExitCode, Terminal, run_asking, to_json
from reporter.cli.command import (
    AS,
    AT,
    EVALUATION_FLAGS,
    NAMESPACE,
    REQUEST_TIMEOUT,
    RUN_FLAGS_NOTE,
    Command,
    output,
)
from reporter.cli.source_arguments import FILE, KUBECONFIG, parse_target
from reporter.cli.sources import SourceOpener
from reporter.cli.status_output import describe_gaps
from reporter.model.states import State
from reporter.model.status_document import Blocking, StatusDocument
from reporter.settings import Arguments, Flag, SettingsError
from reporter.settings.arguments import REPEAT
from reporter.settings.errors import ConfigurationError
from reporter.settings.parsers import choice_parser
from reporter.status.junit import JUnitCase, render_junit
from reporter.status.source import CannotAsk, StatusAnswer, Target
from reporter.status.summary import describe_missing, summarize
from reporter.status.table import CLUSTER_NAME, NOTHING, AnySubject, TextTable, describe_blocking


# --------------------------------------------------------------------
# Ask each context for its status, all at the same time.


CLUSTER = "cluster"


class CheckedCluster(Struct, frozen=True):
    """The answer of one context. *error*: why there is none."""

    name: str
    answer: StatusAnswer | None = None
    error: str = ""

    def worst(self, target: Target) -> State | None:
        """Return the worst state of what was asked about; None without an answer."""
        return None if self.answer is None else summarize(self.answer, target).worst


class CheckRun:
    """One evaluation of every context. Raises SettingsError."""

    def __init__(
        self, arguments: Arguments, target: Target, environ: Mapping[str, str], terminal: Terminal
    ) -> None:
        self._target, self._terminal = target, terminal
        place = arguments.values["from"]
        source = place if place == CLUSTER or place.startswith(FILE) else f"{FILE}{place}"
        contexts = list(dict.fromkeys(arguments.values["context"].split(REPEAT)))
        if source != CLUSTER and len(contexts) > 1:
            raise SettingsError("--context", "a dump is of one cluster; leave it out")
        values = {**arguments.values, "from": source, "reporter-namespace": ""}
        self._openers = {
            context or _name(arguments, source): SourceOpener(
                replace(arguments, values={**values, "context": context}),
                target,
                environ,
                terminal,
            )
            for context in contexts
        }

    async def ask_all(self) -> Sequence[CheckedCluster]:
        """
        Return the answers in the order of the contexts. Raises SettingsError and ConfigurationError.
        """
        tasks = [
            asyncio.create_task(self._ask(name, opener), name=f"check {name}")
            for name, opener in self._openers.items()
        ]
        try:
            return [await task for task in tasks]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _ask(self, name: str, opener: SourceOpener) -> CheckedCluster:
        try:
            source = await opener.open()
            try:
                return CheckedCluster(name, await source.ask(self._target))
            finally:
                await source.close()
        except CannotAsk as err:
            return CheckedCluster(name, error=str(err))
        except ConfigurationError as err:
            # That of a dump names it already.
            if str(err).startswith(name):
                raise
            raise ConfigurationError(f"{name}: {err}") from err


def _name(arguments: Arguments, source: str) -> str:
    """Return how a cluster without a given context is called."""
    if source != CLUSTER:
        return source.removeprefix(FILE)
    return arguments.settings.get(KUBECONFIG, "current context")


# --------------------------------------------------------------------
# Print the answers of check as a table, as JSON and as JUnit XML.


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


# --------------------------------------------------------------------
# The command ``check``.


@unique
class FailOn(StrEnum):
    WARNING = "warning"
    NEVER = "never"


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    form: CheckFormat = arguments.value("output")
    fails = arguments.value("fail-on") is FailOn.WARNING
    target = parse_target(arguments.names, arguments.values["namespace"])
    terminal = Terminal(environ)
    run = CheckRun(arguments, target, environ, terminal)
    return run_asking(_check(run, target, form, terminal, fails=fails), terminal)


async def _check(
    run: CheckRun, target: Target, form: CheckFormat, terminal: Terminal, *, fails: bool
) -> int:
    clusters = await run.ask_all()
    print_answers(clusters, target, form, terminal)
    return _exit_code(clusters, target, fails=fails)


def _exit_code(clusters: Sequence[CheckedCluster], target: Target, *, fails: bool) -> ExitCode:
    """Return the code of the worst answer; that of a missing one is the worst."""
    states = [each.worst(target) for each in clusters]
    known = [state for state in states if state is not None]
    if len(known) < len(states):
        return ExitCode.NO_ANSWER
    worst = max(known, key=lambda state: state.severity)
    return BY_STATE[worst] if fails else ExitCode.MET


CHECK = Command(
    run=_run,
    summary="Evaluate one or more clusters once, as a pipeline does.",
    usage="check [NS[/SET] | cluster] [FLAGS]",
    about="""\
It is `status --from=cluster --exit-code`, with JUnit XML and with several
clusters side by side: it asks no reporter, so none has to run, and writes
nothing. In JUnit XML each subject is a test case, and one that is not Current
has failed.""",
    examples=(
        ("check", "the current cluster, and an exit code"),
        ("check team-a/qwen --context=staging", "one InferenceSet of another cluster"),
        ("check --context=eu --context=us -o json", "two clusters side by side"),
        ("check --from=dump/ -o junit > report.xml", "a dump, for a pipeline"),
    ),
    flags=(
        output(CheckFormat),
        NAMESPACE,
        Flag(
            name="from",
            help="What is evaluated. cluster: the API server. PATH: a dump, as a folder, a file, or - for"
            " standard input.",
            placeholder="cluster|PATH",
            default="cluster",
        ),
        AT,
        Flag(
            name="fail-on",
            help="warning: end with 3 to 6 if the worst state is not Current. never: with 0 if there is an"
            " answer.",
            parse=choice_parser(FailOn),
            default="warning",
        ),
        Flag(
            name="context",
            help="The context of the kubeconfig; empty: its current one. Given several times, the clusters"
            " are shown side by side.",
            placeholder="NAME",
            repeats=True,
        ),
        AS,
        REQUEST_TIMEOUT,
    ),
    settings=EVALUATION_FLAGS,
    notes=f"""\
{RUN_FLAGS_NOTE}

Exit codes: 1 a cluster gave no answer, 2 something given is refused. With
--fail-on=warning by the worst state of all clusters: 0 Current, 3 InProgress,
4 Failed, 5 Unknown, 6 NotFound or Terminating. With --fail-on=never 0
otherwise.""",
)
