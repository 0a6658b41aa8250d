"""The command ``wait``."""

from collections.abc import Callable, Mapping
from contextlib import suppress

from reporter.cli import command
from reporter.cli.event_loop import run_asking
from reporter.cli.output import ExitCode, Terminal
from reporter.cli.source_arguments import FILE, parse_target
from reporter.cli.source_opener import source_opener
from reporter.model.states import State
from reporter.process.clock import monotonic_seconds
from reporter.settings import Arguments, Flag, SettingsError
from reporter.settings.parsers import choice_parser, parse_any_duration
from reporter.status.detail_table import describe_availability, describe_replicas
from reporter.status.summary import Summary
from reporter.status.table import describe_blocking
from reporter.status.waiting import Outcome, StatusWait, WaitCondition, Waited, Waiter


BY_OUTCOME = {
    Outcome.MET: ExitCode.MET,
    Outcome.NO_ANSWER: ExitCode.NO_ANSWER,
    Outcome.TIMED_OUT: ExitCode.IN_PROGRESS,
    Outcome.FAILED: ExitCode.FAILED,
    Outcome.ENDING: ExitCode.GONE,
}
ENDINGS = {
    Outcome.MET: "{target} is {condition}",
    Outcome.FAILED: "{target} has failed",
    Outcome.ENDING: "{target} is being deleted",
    Outcome.TIMED_OUT: "{target} is not {condition} after {timeout}",
    Outcome.NO_ANSWER: "nobody answered within {timeout}",
}


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    wait = parse_wait(arguments)
    terminal = Terminal(environ, arguments)
    return run_asking(_wait(arguments, wait, terminal, environ), terminal, stays=True)


def parse_wait(arguments: Arguments) -> StatusWait:
    """
    Return what to wait for; for the cluster the condition is always READY.

    Raises SettingsError for what cannot be waited for.
    """
    target = parse_target(arguments.names, arguments.values["namespace"])
    if target.is_everything:
        raise SettingsError("", "name what to wait for: NS, NS/SET or cluster")
    condition: WaitCondition = arguments.value("for")
    if target.is_cluster and condition is WaitCondition.GONE:
        raise SettingsError(f"--for={condition}", "the cluster can only be waited for to be ready")
    if target.is_cluster:
        condition = WaitCondition.READY
    if arguments.values["from"].startswith(FILE):
        raise SettingsError("--from", "a dump does not change; use status --exit-code")
    fail_fast = arguments.is_set("fail-fast")
    return StatusWait(target, condition, arguments.value("timeout"), fail_fast=fail_fast)


async def _wait(
    arguments: Arguments, wait: StatusWait, terminal: Terminal, environ: Mapping[str, str]
) -> int:
    waiter = Waiter(
        source_opener(arguments, wait.target, environ, terminal, watches=True),
        wait,
        seconds=monotonic_seconds,
        on_summary=ChangedLines(wait, terminal.error).show,
        on_note=terminal.note,
        on_error=terminal.error,
    )
    waited = await waiter.run()
    with suppress(BrokenPipeError):  # the exit code is the answer, whoever reads the line
        terminal.print(describe_end(waited, wait, arguments.values["timeout"]))
    return BY_OUTCOME[waited.outcome]


class ChangedLines:
    """Print the line of a summary if it differs from the one before."""

    def __init__(self, wait: StatusWait, print_line: Callable[[str], None]) -> None:
        self._wait, self._print_line = wait, print_line
        self._last = ""

    def show(self, summary: Summary) -> None:
        """Print the line of the next summary, unless it says the same again."""
        line = describe(summary, self._wait)
        if line != self._last:
            self._last = line
            self._print_line(line)


def describe(summary: Summary, wait: StatusWait) -> str:
    """Return a line for people with the state of the target, its replicas, and what blocks it."""
    parts = [f"{wait.target}: {summary.state.word}"]
    if summary.replicas is not None:
        parts.append(describe_replicas(summary.replicas))
    blocking = summary.blocking
    if blocking is not None:
        object_ = f" ({blocking.object})" if blocking.object else ""
        parts.append(f"{describe_blocking(blocking)}{object_}, acts: {blocking.actionability}")
    is_there = summary.state is not State.NOT_FOUND
    if wait.condition is WaitCondition.AVAILABLE and is_there:
        parts += describe_availability(summary)
    return "; ".join(parts)


def describe_end(waited: Waited, wait: StatusWait, timeout: str) -> str:
    """
    Return the last line of the command: how the waiting ended.

    Unless the condition is met, it adds the last state with what blocks it, and the last error.
    *timeout*: the text that the user gave.
    """
    text = ENDINGS[waited.outcome].format(
        target=wait.target, condition=wait.condition, timeout=timeout
    )
    if waited.outcome is Outcome.MET:
        return text
    if waited.last is not None:
        text += f": {describe(waited.last, wait).partition(': ')[2]}"
        if waited.last.blocking is not None and waited.last.blocking.message:
            text += f": {waited.last.blocking.message}"
        elif waited.last.not_available is not None and waited.last.not_available.message:
            text += f": {waited.last.not_available.message}"
    return f"{text}; {waited.error}" if waited.error else text


WAIT = command.Command(
    run=_run,
    summary="Wait until a namespace, an InferenceSet or the control plane is as wanted.",
    usage="wait NS[/SET] | cluster [FLAGS]",
    about="""\
Changes of the state are printed to standard error, the end to standard output.
The answer of a reporter counts once it has finished a pass after the first
question, which takes up to its --resync-seconds. Without a reporter this
program watches the cluster itself, which needs list and watch of each kind; of
a namespace, in that one alone.""",
    examples=(
        ("wait team-a/qwen", "until a request can be answered"),
        ("wait team-a --for=ready --timeout=10m --fail-fast", "after an upgrade"),
        ("wait team-a/qwen --for=gone --timeout=90", "for 90 seconds"),
    ),
    flags=(
        Flag(
            "for",
            "available: a request can reach it and be answered, as far as is known; of a namespace, each"
            " InferenceSet that is not scaled to zero. ready: the state is Ready, and all that the"
            " control plane can be waited for. gone: it does not exist.",
            parse=choice_parser(WaitCondition),
            default="available",
        ),
        Flag(
            "timeout",
            "How long to wait, such as 90s, 10m or 90 (seconds); 0: ask once, and take the answer as it is.",
            "TIME",
            default="10m",
            parse=parse_any_duration,
        ),
        command.switch("fail-fast", "End at Failed, unless it is transient, and at Terminating."),
        command.NAMESPACE,
        command.QUIET,
        command.FROM,
        *command.ACCESS,
    ),
    settings=command.EVALUATION_FLAGS,
    notes=f"""\
{command.RUN_FLAGS_NOTE}

Exit codes: 0 as wanted, 1 no answer, 2 something given is refused, 3 the time
is over. With --fail-fast: 4 Failed, 6 Terminating.""",
)
