"""The command ``wait``."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from reporter import PROGRAM_NAME
from reporter.cli.arguments import (
    RUN_FLAGS_NOTE,
    WAIT_FLAGS,
    Arguments,
    parse_arguments,
    parse_time_flag,
    render_flags,
)
from reporter.cli.asking import BY_OUTCOME, Terminal, run_asking
from reporter.cli.source_arguments import FILE, parse_target
from reporter.cli.sources import LateSource, SourceOpener
from reporter.process.clock import monotonic_seconds
from reporter.settings import SettingsError
from reporter.status.detail_table import describe_replicas
from reporter.status.summary import Summary
from reporter.status.table import describe_blocking
from reporter.status.waiting import Outcome, StatusWait, WaitCondition, Waited, Waiter


HELP = f"""\
Wait until a namespace, an InferenceSet or the control plane is as wanted.

Usage:
  {PROGRAM_NAME} wait NS[/SET] | cluster [FLAGS]

Changes of the state are printed to standard error, the end to standard output.
The answer of a reporter counts once it has finished a pass after the first
question, which takes up to its --resync-seconds. Without a reporter this
program watches the cluster itself, which needs list and watch of each kind.

{{examples}}

{{flags}}

{RUN_FLAGS_NOTE}

Exit codes: 0 as wanted, 1 no answer, 2 something given is refused, 3 the time
is over. With --fail-fast: 4 Failed, 6 Terminating."""

ENDINGS = {
    Outcome.MET: "{target} is {condition}",
    Outcome.FAILED: "{target} has failed",
    Outcome.ENDING: "{target} is being deleted",
    Outcome.TIMED_OUT: "{target} is not {condition} after {timeout}",
    Outcome.NO_ANSWER: "nobody answered within {timeout}",
}


def run_wait(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the command and return its exit code. Raises SettingsError."""
    arguments = parse_arguments(argv, WAIT_FLAGS)
    wait = parse_wait(arguments)
    terminal = Terminal(environ)
    return run_asking(_wait(arguments, wait, terminal, environ), terminal, stays=True)


def parse_wait(arguments: Arguments) -> StatusWait:
    """Return what to wait for. Raises SettingsError for what cannot be waited for."""
    target = parse_target(arguments.names, arguments.values["namespace"])
    if target.is_everything:
        raise SettingsError("", "name what to wait for: NS, NS/SET or cluster")
    condition = arguments.choice("for", WaitCondition)
    if target.is_cluster and condition is not WaitCondition.READY:
        raise SettingsError(f"--for={condition}", "the cluster can only be waited for to be ready")
    if arguments.values["from"].startswith(FILE):
        raise SettingsError("--from", "a dump does not change; use status --exit-code")
    timeout = parse_time_flag(arguments, "timeout")
    return StatusWait(target, condition, timeout, fail_fast=arguments.is_set("fail-fast"))


async def _wait(
    arguments: Arguments, wait: StatusWait, terminal: Terminal, environ: Mapping[str, str]
) -> int:
    opener = SourceOpener(arguments, wait.target, environ, terminal, watches=True)
    source = LateSource(opener)
    try:
        waiter = Waiter(
            source,
            wait,
            seconds=monotonic_seconds,
            on_change=lambda summary: terminal.error(describe(summary, wait)),
            on_note=terminal.note,
            on_error=terminal.error,
        )
        waited = await waiter.run()
    finally:
        await source.close()
    with suppress(BrokenPipeError):  # the exit code is the answer, whoever reads the line
        terminal.print(describe_end(waited, wait, arguments.values["timeout"]))
    return BY_OUTCOME[waited.outcome]


def describe(summary: Summary, wait: StatusWait) -> str:
    """Return a line about a state: replicas, and what blocks."""
    parts = [f"{wait.target}: {summary.state}"]
    if summary.replicas is not None:
        parts.append(describe_replicas(summary.replicas))
    blocking = summary.blocking
    if blocking is not None:
        object_ = f" ({blocking.object})" if blocking.object else ""
        parts.append(f"{describe_blocking(blocking)}{object_}, acts: {blocking.actionability}")
    return "; ".join(parts)


def describe_end(waited: Waited, wait: StatusWait, timeout: str) -> str:
    text = ENDINGS[waited.outcome].format(
        target=wait.target, condition=wait.condition, timeout=timeout
    )
    if waited.outcome is Outcome.MET:
        return text
    if waited.last is not None:
        text += f": {describe(waited.last, wait).partition(': ')[2]}"
        if waited.last.blocking is not None and waited.last.blocking.message:
            text += f": {waited.last.blocking.message}"
    return f"{text}; {waited.error}" if waited.error else text


def render_help(examples: str) -> str:
    return HELP.format(examples=examples, flags=render_flags(WAIT_FLAGS))
