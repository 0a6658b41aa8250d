"""The command ``check``."""

from collections.abc import Mapping, Sequence

from reporter import PROGRAM_NAME
from reporter.cli.arguments.flags import RUN_FLAGS_NOTE, render_flags
from reporter.cli.arguments.parser import parse_arguments
from reporter.cli.arguments.targets import parse_target
from reporter.cli.asking.exit_codes import BY_STATE, ExitCode
from reporter.cli.asking.run import run_asking
from reporter.cli.asking.terminal import Terminal
from reporter.cli.check.answers import CheckedCluster, CheckRun
from reporter.cli.check.flags import CHECK_FLAGS
from reporter.cli.check.output import CheckFormat, print_answers
from reporter.runtime.status.source import Target
from reporter.settings import SettingsError


FAIL_ON = ("warning", "never")

HELP = f"""\
Evaluate a cluster once, as a pipeline does, and write nothing.

Usage:
  {PROGRAM_NAME} check [NS[/SET] | cluster] [FLAGS]

It is `status --from=cluster --exit-code`, with JUnit XML and with several
clusters side by side: it asks no reporter, so none has to run. In JUnit XML
each subject is a test case, and one that is not Current has failed.

{{examples}}

{{flags}}

{RUN_FLAGS_NOTE}

Exit codes: 1 a cluster gave no answer, 2 something given is refused. With
--fail-on=warning by the worst state of all clusters: 0 Current, 3 InProgress,
4 Failed, 5 Unknown, 6 NotFound or Terminating. With --fail-on=never 0
otherwise."""


def run_check(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the command and return its exit code. Raises SettingsError."""
    arguments = parse_arguments(argv, CHECK_FLAGS)
    form = arguments.choice("output", CheckFormat)
    fail_on = arguments.values["fail-on"]
    if fail_on not in FAIL_ON:
        raise SettingsError(f"--fail-on={fail_on}", f"must be one of {', '.join(FAIL_ON)}")
    target = parse_target(arguments.names, arguments.values["namespace"])
    terminal = Terminal(environ)
    run = CheckRun(arguments, target, environ, terminal)
    return run_asking(_check(run, target, form, terminal, fails=fail_on != "never"), terminal)


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


def render_help(examples: str) -> str:
    return HELP.format(examples=examples, flags=render_flags(CHECK_FLAGS))
