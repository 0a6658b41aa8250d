"""
The commands and their exit codes: 0 for success, 2 for a configuration that is refused.

What only one command needs is imported by it: catalogue, probes and API client take a second and tens
of MiB.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

from reporter import PROGRAM_NAME
from reporter.cli.asking_commands import ASKING_COMMANDS
from reporter.settings import SettingsError
from reporter.sinks.log_format import one_line


Command: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], int]

EXIT_BAD_CONFIGURATION = 2
DEMO_NOT_INSTALLED = """\
the demo is not part of this installation, as images and wheels leave it out.
To see it, clone the repository of this program and run there: make run"""
PLUGIN_COMMANDS = ASKING_COMMANDS | {"version"}
SIDECAR_VARIABLES = ("JOB_NAME", "POD_NAME")
HELP_ARGUMENTS = frozenset({"help", "-h", "-help", "--help"})


def run_command(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """
    Run a command and return its exit code. Without a command's name, it is run.

    The Go reporter has no commands, and its chart gives flags alone. Without any argument in a Job's
    sidecar it is job-status.
    """
    default = "job-status" if not argv and _is_sidecar(environ) else "run"
    name, arguments = (argv[0], argv[1:]) if _has_command_name(argv) else (default, argv)
    if name in HELP_ARGUMENTS or (name != "demo" and HELP_ARGUMENTS & set(arguments)):
        print(_help_of(name))
        return 0
    if name not in COMMANDS:
        return _print_refusal(_unknown_command(name))
    try:
        return COMMANDS[name](arguments, environ)
    except SettingsError as err:
        return _print_refusal(str(err))


def run_plugin(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """
    Run as the kubectl plugin: ``kubectl productionstack-status NS`` is the command ``status``.
    """
    given = argv[0] if argv else ""
    if given in PLUGIN_COMMANDS or given == "--version":
        return run_command(argv, environ)
    return run_command(["status", *argv], environ)


def _help_of(name: str) -> str:
    if name == "job-status":
        from reporter.cli import job_status  # noqa: PLC0415

        return job_status.render_help()
    if name not in ASKING_COMMANDS:
        from reporter.cli.help import render_help  # noqa: PLC0415

        return render_help()
    from reporter.cli.status import command, explain, wait  # noqa: PLC0415

    helps = {
        "status": command.render_help,
        "wait": wait.render_help,
        "explain": explain.render_help,
    }
    return helps[name]()


def _is_sidecar(environ: Mapping[str, str]) -> bool:
    """
    Return whether the variables are those of the sidecar of a Job, whose image has no arguments.

    Both are needed: build servers set JOB_NAME, and the chart sets POD_NAME.
    """
    return all(environ.get(name, "").strip() for name in SIDECAR_VARIABLES)


def _has_command_name(argv: Sequence[str]) -> bool:
    return bool(argv) and (
        not argv[0].startswith("-") or argv[0] in {*HELP_ARGUMENTS, "--version"}
    )


def _print_refusal(text: str) -> int:
    # The refused text may hold terminal escape sequences: one_line removes them.
    print(PROGRAM_NAME, "\n".join(map(one_line, text.split("\n"))), sep=": ", file=sys.stderr)
    return EXIT_BAD_CONFIGURATION


def _unknown_command(name: str) -> str:
    close = get_close_matches(name, sorted(COMMANDS), n=1)
    offer = f"did you mean {close[0]}?" if close else "--help lists all"
    return f"there is no command {name!r}; {offer}"


def _run(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    from reporter.cli.configuration import load_configuration  # noqa: PLC0415

    settings, catalogue = load_configuration(arguments, environ)
    from reporter.app import run  # noqa: PLC0415

    return run(settings, catalogue)


def _hub(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    from reporter.cli.configuration import load_hub_settings  # noqa: PLC0415

    settings = load_hub_settings(arguments, environ)
    from reporter.hub.run import run_hub  # noqa: PLC0415

    return run_hub(settings)


def _status(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    from reporter.cli.status.command import run_status  # noqa: PLC0415

    return run_status(arguments, environ)


def _wait(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    from reporter.cli.status.wait import run_wait  # noqa: PLC0415

    return run_wait(arguments, environ)


def _explain(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    from reporter.cli.status.explain import run_explain  # noqa: PLC0415

    return run_explain(arguments, environ)


def _job_status(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    if arguments:
        raise SettingsError("", f"unexpected argument {arguments[0]!r}; job-status takes none")
    from reporter.job.command import run_job_status  # noqa: PLC0415

    return run_job_status(environ)


def _demo(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    # Imported here, as wheels and images are built without reporter.embedded.
    try:
        from reporter.embedded.demo.command import run_demo  # noqa: PLC0415
    except ModuleNotFoundError as err:
        if err.name != "reporter.embedded":
            raise
        raise SettingsError("", DEMO_NOT_INSTALLED) from None
    return run_demo(arguments)


def _check_config(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    from reporter.cli.configuration import load_configuration  # noqa: PLC0415
    from reporter.cli.summary import render_summary  # noqa: PLC0415

    print(render_summary(*load_configuration(arguments, environ)))
    return 0


def _version(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    if arguments:
        raise SettingsError("", f"unexpected argument {arguments[0]!r}; version takes none")
    try:
        print(version(PROGRAM_NAME))
    except PackageNotFoundError:
        print("not installed: run from its sources")
    return 0


COMMANDS: Mapping[str, Command] = {
    "run": _run,
    "hub": _hub,
    "status": _status,
    "wait": _wait,
    "explain": _explain,
    "job-status": _job_status,
    "demo": _demo,
    "check-config": _check_config,
    "version": _version,
    "--version": _version,
}
