"""
The commands ``status`` and ``check``.

What a single table of one cluster does not need is imported where it is: that takes a third of the start.
"""

from collections.abc import Mapping
from enum import StrEnum, unique

from msgspec.structs import replace

from reporter import PROGRAM_NAME
from reporter.cli import command
from reporter.cli.command_names import PLUGIN_COMMANDS, PLUGIN_DEFAULT_COMMAND
from reporter.cli.event_loop import run_asking
from reporter.cli.output import ExitCode, Format, Terminal
from reporter.cli.source_arguments import CLUSTER, FILE, KUBECONFIG, asks_hub, parse_target
from reporter.cli.source_opener import source_opener
from reporter.cli.status_output import Printer, Question, show_answers
from reporter.process.imports import uncollected_imports
from reporter.settings import Arguments, Flag, SettingsError
from reporter.settings.arguments import REPEAT
from reporter.settings.parsers import choice_parser, parse_any_duration
from reporter.status.source import OpenSource, Target
from reporter.status.summary import summarize


PLUGIN_WORDS = "|".join(sorted(PLUGIN_COMMANDS - {PLUGIN_DEFAULT_COMMAND}))


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    if arguments.is_set("schema"):
        return _print_schema(arguments)
    form: Format = arguments.value("output")
    _refuse_combinations(arguments, form)
    if asks_hub(arguments):
        with uncollected_imports():
            from reporter.cli.fleet import run_fleet_status  # noqa: PLC0415

        return run_fleet_status(arguments, form, Terminal(environ, arguments), environ)
    lists_sets = arguments.is_set("all-namespaces")
    if lists_sets and (arguments.names or arguments.values["namespace"]):
        raise SettingsError("--all-namespaces", "takes no name; leave one of them out")
    target = parse_target(arguments.names, arguments.values["namespace"])
    terminal = Terminal(environ, arguments)
    if arguments.is_set("history"):
        with uncollected_imports():
            from reporter.cli.history import HistoryReading  # noqa: PLC0415

        history = HistoryReading(arguments, target, form, terminal, environ)
        return run_asking(history.run(), terminal)
    if form is Format.JUNIT:
        openers = {_name(arguments): source_opener(arguments, target, environ, terminal)}
        return _run_side_by_side(
            openers, target, form, terminal, fails=arguments.is_set("exit-code")
        )
    with_head = not arguments.is_set("no-headers")
    printer = Printer(terminal, target, form, lists_sets=lists_sets, with_head=with_head)
    watches = arguments.is_set("watch")
    open_source = source_opener(arguments, target, environ, terminal, watches=watches)
    question = Question(
        open_source, target, printer.print, lambda answer: summarize(answer, target).worst
    )
    return run_asking(show_answers(question, arguments, terminal), terminal, stays=watches)


def _print_schema(arguments: Arguments) -> int:
    from reporter.model.fleet_status import FleetDocument  # noqa: PLC0415
    from reporter.model.json_schema import render_schema  # noqa: PLC0415
    from reporter.model.status_document import StatusDocument  # noqa: PLC0415

    document = FleetDocument if asks_hub(arguments) else StatusDocument
    print(render_schema(document), end="")
    return ExitCode.MET


def _run_side_by_side(
    openers: Mapping[str, OpenSource],
    target: Target,
    form: Format,
    terminal: Terminal,
    *,
    fails: bool,
) -> int:
    from reporter.cli.side_by_side import ask_side_by_side  # noqa: PLC0415

    return run_asking(ask_side_by_side(openers, target, form, terminal, fails=fails), terminal)


def _refuse_combinations(arguments: Arguments, form: Format) -> None:
    """Raise SettingsError for flags of which one makes no sense with the other."""
    if arguments.is_set("watch") and arguments.values["from"].startswith(FILE):
        raise SettingsError("--watch", "a dump does not change; leave --watch out")
    if arguments.is_set("watch") and arguments.is_set("exit-code"):
        raise SettingsError("--exit-code", "--watch has no end to exit at; leave one of them out")
    if form is not Format.JUNIT:
        return
    for name in ("watch", "all-namespaces", "history"):
        if arguments.is_set(name):
            raise SettingsError(f"--{name}", "does not go with --output=junit")
    if asks_hub(arguments):
        raise SettingsError("--output=junit", "does not apply to --from=hub")


def _name(arguments: Arguments) -> str:
    """Return how a cluster without a given context is called."""
    kind, colon, text = arguments.values["from"].partition(":")
    if colon:
        return text if f"{kind}:" == FILE else arguments.values["from"]
    return arguments.values["context"] or arguments.settings.get(KUBECONFIG, "current context")


STATUS = command.Command(
    run=_run,
    summary="Show the status of the cluster, a namespace or an InferenceSet.",
    usage="status [NS[/SET] | cluster] [FLAGS]",
    further_usage=(
        f"{PROGRAM_NAME} status [CLUSTER] --from=hub [FLAGS]",
        "kubectl productionstack-status [NS[/SET] | cluster] [FLAGS]",
        f"kubectl productionstack-status {PLUGIN_WORDS} ...",
    ),
    about="""\
Without a name: the control plane and each workload namespace. STATE is Ready
(all is as declared), Progressing, Failed or Unknown; in JSON and YAML Ready is
Current and Progressing is InProgress, as kstatus says it. READY are replicas.
AVAILABLE is another question: can a request reach the model and be answered, as
far as is known; of a namespace and the cluster, of how many models. FOR is a
dash where the beginning is not known. ACTS names who must act: user, platform,
or nobody yet (transient); BLOCKED BY is the cause, with an arrow in front if it
is upstream. A harness is the Gateway of a namespace with its filters; stalled
is what has lasted longer than such things take.

The status comes from a reporter that runs, or from this program, which then
reads the cluster once, or with --watch watches it, and writes nothing.

With --history: the episodes that a reporter keeps with --store=healthevents, by
reason and subject; -o wide shows each one with its message.

In JUnit XML each subject is a test case; one that is not Ready, or is and is
not available, has failed.""",
    examples=(
        ("status", "the control plane and every workload namespace"),
        ("status -n team-a qwen -o wide", "one InferenceSet, as status team-a/qwen"),
        ("status -A --context=production", "the InferenceSets of another cluster"),
        ("status team-a --as=jane --request-timeout=30s", "what jane would see"),
        ("status --from=http://127.0.0.1:8082 -w", "a reporter, and what changes"),
    ),
    flags=(
        command.output(Format),
        command.NAMESPACE,
        command.switch(
            "all-namespaces", "List the InferenceSets of all namespaces, one a line.", short="A"
        ),
        command.QUIET,
        command.switch("no-headers", "Leave out the headers of a table."),
        command.switch("watch", "Go on, and print what changes. Not for dumps.", short="w"),
        command.FROM,
        command.AT,
        command.switch("exit-code", "End with 3 to 6 if the worst state is not Ready."),
        command.switch(
            "history", "Show what was wrong, how long and how often, as the HealthEvents show."
        ),
        Flag(
            "since",
            "With --history: how far to look back.",
            "TIME",
            default="24h",
            parse=parse_any_duration,
        ),
        command.switch("schema", "Print the JSON Schema of --output=json, and end."),
        *command.ACCESS,
    ),
    settings=command.EVALUATION_FLAGS,
    notes=f"""\
{command.RUN_FLAGS_NOTE}

{PROGRAM_NAME} dump > stack.yaml
writes a dump for --from=file:stack.yaml.

Exit codes: 0 answered, 1 no answer, 2 something given is refused: the command
line, a variable, a file or the kubeconfig. With --exit-code by the worst
state, where a model that is Ready and not available counts as Failed, and one
of which that is not known as Unknown: 0 Ready, 3 Progressing, 4 Failed,
5 Unknown, 6 NotFound or Terminating.""",
)


# --------------------------------------------------------------------
# The command ``check``: ``status --from=cluster --exit-code``, of several clusters side by side.


@unique
class CheckFormat(StrEnum):
    """The values of ``--output`` of check: fewer than those of status, which Format has."""

    TABLE = Format.TABLE
    JSON = Format.JSON
    JUNIT = Format.JUNIT


@unique
class FailOn(StrEnum):
    """
    The values of ``--fail-on`` of check.

    WARNING: the exit code is that of the worst state of all clusters. NEVER: it is 0 with any answer.
    """

    WARNING = "warning"
    NEVER = "never"


def _run_check(arguments: Arguments, environ: Mapping[str, str]) -> int:
    form, fails = Format(arguments.value("output")), arguments.value("fail-on") is FailOn.WARNING
    target = parse_target(arguments.names, arguments.values["namespace"])
    place = arguments.values["from"]
    source = place if place == CLUSTER or place.startswith(FILE) else f"{FILE}{place}"
    contexts = list(dict.fromkeys(arguments.values["context"].split(REPEAT)))
    if source != CLUSTER and len(contexts) > 1:
        raise SettingsError("--context", "a dump is of one cluster; leave it out")
    terminal = Terminal(environ, arguments)
    values = {**arguments.values, "from": source, "reporter-namespace": ""}
    each_alone = [replace(arguments, values={**values, "context": each}) for each in contexts]
    openers = {_name(each): source_opener(each, target, environ, terminal) for each in each_alone}
    return _run_side_by_side(openers, target, form, terminal, fails=fails)


CHECK = command.Command(
    run=_run_check,
    summary="Evaluate one or more clusters once, as a pipeline does.",
    usage="check [NS[/SET] | cluster] [FLAGS]",
    about="""\
It is `status --from=cluster --exit-code`, with several clusters side by side:
it asks no reporter, so none has to run, and writes nothing.""",
    examples=(
        ("check", "the current cluster, and an exit code"),
        ("check team-a/qwen --context=staging", "one InferenceSet of another cluster"),
        ("check --context=eu --context=us -o json", "two clusters side by side"),
        ("check --from=file:stack.yaml -o junit > report.xml", "a dump, for a pipeline"),
    ),
    flags=(
        command.output(CheckFormat),
        command.NAMESPACE,
        command.QUIET,
        Flag(
            "from",
            "What is evaluated. cluster: the API server. file:PATH, or PATH alone: a dump, as a file, a"
            " folder, or - for standard input.",
            "cluster|file:PATH",
            default="cluster",
        ),
        command.AT,
        Flag(
            "fail-on",
            "warning: end with 3 to 6 if the worst state is not Ready. never: with 0 if there is an"
            " answer.",
            parse=choice_parser(FailOn),
            default="warning",
        ),
        Flag(
            "context",
            "The context of the kubeconfig; empty: its current one. Given several times, the clusters"
            " are shown side by side.",
            "NAME",
            repeats=True,
        ),
        command.AS,
        command.REQUEST_TIMEOUT,
    ),
    settings=command.EVALUATION_FLAGS,
    notes=f"""\
{command.RUN_FLAGS_NOTE}

Exit codes: 1 a cluster gave no answer, 2 something given is refused. With
--fail-on=warning by the worst state of all clusters, where a model that is
Ready and not available counts as Failed, and one of which that is not known as
Unknown: 0 Ready, 3 Progressing, 4 Failed, 5 Unknown, 6 NotFound or Terminating.
With --fail-on=never 0 otherwise.""",
)
