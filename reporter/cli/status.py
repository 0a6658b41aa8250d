"""The command ``status``."""

from collections.abc import Mapping, Sequence

from reporter import PROGRAM_NAME
from reporter.cli.arguments import (
    RUN_FLAGS_NOTE,
    STATUS_FLAGS,
    Arguments,
    parse_arguments,
    render_flags,
)
from reporter.cli.asking import BY_STATE, ExitCode, Format, Terminal, run_asking
from reporter.cli.asking_commands import PLUGIN_COMMANDS, PLUGIN_DEFAULT_COMMAND
from reporter.cli.dump import dump_command
from reporter.cli.fleet import run_fleet_status
from reporter.cli.history import HistoryReading
from reporter.cli.source_arguments import FILE, asks_hub, parse_target
from reporter.cli.sources import SourceOpener
from reporter.cli.status_output import Printer, show_answers
from reporter.model.fleet_status import FleetDocument
from reporter.model.status_document import StatusDocument
from reporter.server.status_v1_schema import render_schema
from reporter.settings import SettingsError
from reporter.status.source import Target
from reporter.status.summary import summarize


PLUGIN_WORDS = "|".join(sorted(PLUGIN_COMMANDS - {PLUGIN_DEFAULT_COMMAND}))
HELP = f"""\
Show the status of the control plane, of a namespace, or of one InferenceSet.

Usage:
  {PROGRAM_NAME} status [NS[/SET] | cluster] [FLAGS]
  {PROGRAM_NAME} status [CLUSTER] --from=hub [FLAGS]
  kubectl productionstack-status [NS[/SET] | cluster] [FLAGS]
  kubectl productionstack-status {PLUGIN_WORDS} ...

Without a name: the control plane and each workload namespace. READY and UPDATED
are replicas; BLOCKED BY is the cause, with an arrow in front if it is upstream;
ACTS names who must act: user, platform, or nobody yet (transient). The status
comes from a reporter that runs, or from this program, which then reads the
cluster once, or with --watch watches it, and writes nothing.

With --history: the episodes that a reporter keeps with --store=healthevents, by
reason and subject; -o wide shows each one with its message.

{{examples}}

{{flags}}

{RUN_FLAGS_NOTE}

A dump for --from=file:dump.yaml, with everything that is read; leave out kinds
that the server does not have:

{{dump}}

Exit codes: 0 answered, 1 no answer, 2 something given is refused: the command
line, a variable, a file or the kubeconfig. With --exit-code by the worst state:
0 Current, 3 InProgress, 4 Failed, 5 Unknown, 6 NotFound or Terminating."""


def run_status(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the command and return its exit code. Raises SettingsError."""
    arguments = parse_arguments(argv, STATUS_FLAGS)
    if arguments.is_set("schema"):
        document = FleetDocument if asks_hub(arguments) else StatusDocument
        print(render_schema(document), end="")
        return ExitCode.MET
    if asks_hub(arguments):
        return run_fleet_status(
            arguments, arguments.choice("output", Format), Terminal(environ), environ
        )
    lists_sets = arguments.is_set("all-namespaces")
    if lists_sets and (arguments.names or arguments.values["namespace"]):
        raise SettingsError("--all-namespaces", "takes no name; leave one of them out")
    target = parse_target(arguments.names, arguments.values["namespace"])
    if arguments.is_set("watch") and arguments.values["from"].startswith(FILE):
        raise SettingsError("--watch", "a dump does not change; leave --watch out")
    if arguments.is_set("watch") and arguments.is_set("exit-code"):
        raise SettingsError("--exit-code", "--watch has no end to exit at; leave one of them out")
    terminal = Terminal(environ)
    if arguments.is_set("history"):
        history = HistoryReading(
            arguments, target, arguments.choice("output", Format), terminal, environ
        )
        return run_asking(history.run(), terminal)
    printer = Printer(
        terminal,
        target,
        arguments.choice("output", Format),
        lists_sets=lists_sets,
        with_head=not arguments.is_set("no-headers"),
    )
    command = _Status(arguments, target, printer, terminal, environ)
    return run_asking(command.run(), terminal, stays=arguments.is_set("watch"))


class _Status:
    def __init__(
        self,
        arguments: Arguments,
        target: Target,
        printer: Printer,
        terminal: Terminal,
        environ: Mapping[str, str],
    ) -> None:
        self._arguments, self._target = arguments, target
        self._printer, self._terminal = printer, terminal
        self._opener = SourceOpener(
            arguments, target, environ, terminal, watches=arguments.is_set("watch")
        )

    async def run(self) -> int:
        source = await self._opener.open()
        try:
            answer = await show_answers(
                lambda after: source.ask(self._target, after=after),
                self._printer,
                self._arguments,
                self._terminal,
            )
        finally:
            await source.close()
        if self._arguments.is_set("exit-code"):
            return BY_STATE[summarize(answer, self._target).worst]
        return ExitCode.MET if answer.document is not None else ExitCode.NO_ANSWER


def render_help(examples: str) -> str:
    return HELP.format(examples=examples, flags=render_flags(STATUS_FLAGS), dump=dump_command())
