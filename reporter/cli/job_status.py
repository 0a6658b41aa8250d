"""The command ``job-status``."""

from collections.abc import Iterator, Mapping
from textwrap import wrap

from reporter.cli.command import WIDTH, Command
from reporter.job.variables import VARIABLES, Variable
from reporter.settings import Arguments


def _run(_: Arguments, environ: Mapping[str, str]) -> int:
    from reporter.job.command import run_job_status  # noqa: PLC0415  the help needs none of it

    return run_job_status(environ)


def _render(variable: Variable) -> Iterator[str]:
    default = " (required)" if variable.is_required else f"={variable.default}"
    yield f"  {variable.name}{default}"
    yield from wrap(variable.help, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)


JOB_STATUS = Command(
    run=_run,
    summary="As the sidecar of a Job, write the result of its other container into the status of"
    " the Job. The default command where JOB_NAME and POD_NAME are set.",
    usage="job-status",
    about="""\
It is a sidecar: it waits until the other container has written its result
file, or has ended, and then writes one condition of the Job. It has no flags.
Without any command it runs if JOB_NAME and POD_NAME are set, so a Job needs
no args.""",
    examples=(("job-status", "in a pod of the Job; it has variables and no flags"),),
    notes="\n".join(
        ("Environment variables:", *(line for each in VARIABLES for line in _render(each)))
    )
    + """

It needs a service account that may get pods, get jobs and patch jobs/status
in the namespace. See docs/job-status.md.

Exit codes: 0 for a result, success or failure, that was written, or stopped
without one; 1 for an invalid file, an adapter that ended without a result, a
timeout, and every other failure. A native sidecar stays, and ends with 0.""",
    takes_names=False,
)
