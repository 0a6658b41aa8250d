"""The help of the command ``job-status``."""

from collections.abc import Iterator
from textwrap import wrap

from reporter import PROGRAM_NAME
from reporter.cli.arguments import WIDTH
from reporter.job.variables import VARIABLES, Variable


INTRODUCTION = f"""\
Write the result of another container of this pod into the status of its Job.

Usage:
  {PROGRAM_NAME} job-status

It is a sidecar: it waits until the other container has written its result
file, or has ended, and then writes one condition of the Job. It has no flags.
Without any command it runs if JOB_NAME and POD_NAME are set, so a Job needs
no args.

{{examples}}

Environment variables:"""
CLOSING = """\
It needs a service account that may get pods, get jobs and patch jobs/status
in the namespace. See docs/job-status.md.

Exit codes: 0 for a result, success or failure, that was written, or stopped
without one; 1 for an invalid file, an adapter that ended without a result, a
timeout, and every other failure. A native sidecar stays, and ends with 0."""


def render_help(examples: str) -> str:
    variables = "\n".join(line for each in VARIABLES for line in _render(each))
    return "\n\n".join((f"{INTRODUCTION.format(examples=examples)}\n{variables}", CLOSING))


def _render(variable: Variable) -> Iterator[str]:
    default = " (required)" if variable.is_required else f"={variable.default}"
    yield f"  {variable.name}{default}"
    yield from wrap(variable.help, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
