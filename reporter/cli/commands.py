"""
The commands and their exit codes: 0 for success, 2 for a configuration that is refused.

What only one command needs is imported by it: catalogue, probes and API client take a second and tens
of MiB.
"""

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

from reporter import PROGRAM_NAME
from reporter.cli.asking_commands import PLUGIN_COMMANDS, PLUGIN_DEFAULT_COMMAND
from reporter.model.suggest import suggest
from reporter.process.log_format import one_line
from reporter.settings import SettingsError
from reporter.settings.loading import IN_CLUSTER_VARIABLE


Command: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], int]

EXIT_BAD_CONFIGURATION = 2
SIDECAR_VARIABLES = frozenset({"JOB_NAME", "JOB_NAMESPACE", "POD_NAME"})
NO_COMMAND = """\
outside of a pod, name a command before the flags:
  run            be the controller of the cluster in the kubeconfig
  run --dry-run  the same, printing Events and writing nothing
  status         say what is wrong, once
--help lists all commands"""
HELP_MODULES = {
    "status": "reporter.cli.status",
    "wait": "reporter.cli.wait",
    "explain": "reporter.cli.explain",
    "check": "reporter.cli.check",
    "silence": "reporter.cli.silence",
    "job-status": "reporter.cli.job_status_help",
    "lint": "reporter.cli.lint",
    "test": "reporter.cli.story_tests",
    "docs": "reporter.cli.docs",
}
"""The modules with the help of commands that have one of their own."""

HELP_FLAGS = frozenset({"-h", "-help", "--help"})
HELP_ARGUMENTS = HELP_FLAGS | {"help"}


def run_command(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """
    Run a command and return its exit code. In a pod it is run if none is named.

    The Go reporter has no commands, and its chart gives flags alone. Without any argument in a Job's
    sidecar it is job-status. Elsewhere a command is needed: a reporter that somebody starts to look at
    it must not become the leader of the cluster in their kubeconfig.
    """
    if not _has_command_name(argv) and not (HELP_FLAGS & set(argv)) and not _in_pod(environ):
        return _print_help("") if not argv else _print_refusal(NO_COMMAND)
    default = "job-status" if not argv and _is_sidecar(environ) else "run"
    name, arguments = (argv[0], argv[1:]) if _has_command_name(argv) else (default, argv)
    if name in HELP_ARGUMENTS:
        return _print_help(arguments[0] if arguments else "")
    # The word may also be the value of a flag, or a name.
    if HELP_FLAGS & set(arguments) or "help" in arguments[:1]:
        return _print_help(name if _has_command_name(argv) else "")
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
    return run_command([PLUGIN_DEFAULT_COMMAND, *argv], environ)


def run_plugin_completion(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Answer kubectl what a line that begins with the plugin's name may go on with."""
    from reporter.cli.completion import run_kubectl_completion  # noqa: PLC0415

    return run_kubectl_completion(argv)


def _print_help(name: str) -> int:
    if name not in {"", *COMMANDS, *HELP_ARGUMENTS}:
        return _print_refusal(_unknown_command(name))
    print(_help_of(name))
    return 0


def _help_of(name: str) -> str:
    """Return the help of a command; that of the program for no name."""
    from reporter.cli import help_pages  # noqa: PLC0415

    if name in HELP_MODULES:
        module = import_module(HELP_MODULES[name])
        text: str = module.render_help(help_pages.render_examples(name))
        return text
    name = name.removeprefix("--")
    return help_pages.render_command_help(name) if name in COMMANDS else help_pages.render_help()


def _in_pod(environ: Mapping[str, str]) -> bool:
    return bool(environ.get(IN_CLUSTER_VARIABLE)) or _is_sidecar(environ)


def _is_sidecar(environ: Mapping[str, str]) -> bool:
    """
    Return whether the variables are those of the sidecar of a Job, whose image has no arguments.

    Two must be there, blank or not: build servers set JOB_NAME, and the chart sets POD_NAME. The
    sidecar names the one that is missing or blank.
    """
    return len(SIDECAR_VARIABLES & environ.keys()) > 1


def _has_command_name(argv: Sequence[str]) -> bool:
    return bool(argv) and (
        not argv[0].startswith("-") or argv[0] in {*HELP_ARGUMENTS, "--version"}
    )


def _print_refusal(text: str) -> int:
    # The refused text may hold terminal escape sequences: one_line removes them.
    print(PROGRAM_NAME, "\n".join(map(one_line, text.split("\n"))), sep=": ", file=sys.stderr)
    return EXIT_BAD_CONFIGURATION


def _unknown_command(name: str) -> str:
    return f"there is no command {name!r}; {suggest(name, COMMANDS, otherwise='--help lists all')}"


@contextmanager
def uncollected_imports() -> Iterator[None]:
    """
    Import without the garbage collector, and exempt what is imported from its later runs.

    Modules stay, but it would walk those that are there some 300 times while the others are imported.
    """
    gc.disable()
    before = len(sys.modules)
    try:
        yield
    finally:
        gc.enable()
        if len(sys.modules) > before:
            gc.freeze()


def _run(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.configuration import (  # noqa: PLC0415
            load_configuration,
            load_shipped_catalogue,
        )

    settings, catalogue = load_configuration(arguments, environ)
    with uncollected_imports():
        from reporter.app import run  # noqa: PLC0415

    load = partial(load_shipped_catalogue, settings.catalogue_overlay, settings.packs)
    return run(settings, catalogue, load)


def _hub(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.configuration import load_hub_settings  # noqa: PLC0415

    settings = load_hub_settings(arguments, environ)
    with uncollected_imports():
        from reporter.hub.run import run_hub  # noqa: PLC0415

    return run_hub(settings)


def _status(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.status import run_status  # noqa: PLC0415

    return run_status(arguments, environ)


def _wait(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.wait import run_wait  # noqa: PLC0415

    return run_wait(arguments, environ)


def _explain(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.explain import run_explain  # noqa: PLC0415

    return run_explain(arguments, environ)


def _silence(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.silence import run_silence  # noqa: PLC0415

    return run_silence(arguments, environ)


def _job_status(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    if arguments:
        raise SettingsError("", f"unexpected argument {arguments[0]!r}; job-status takes none")
    with uncollected_imports():
        from reporter.job.command import run_job_status  # noqa: PLC0415

    return run_job_status(environ)


def _check_config(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.check_config import run_check_config  # noqa: PLC0415

    return run_check_config(arguments, environ)


def _completion(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.completion import run_completion  # noqa: PLC0415

    return run_completion(arguments)


def _test(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.story_tests import run_test  # noqa: PLC0415

    return run_test(arguments)


def _lint(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.lint import run_lint  # noqa: PLC0415

    return run_lint(arguments)


def _docs(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.docs import run_docs  # noqa: PLC0415

    return run_docs(arguments)


def _check(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.check import run_check  # noqa: PLC0415

    return run_check(arguments, environ)


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
    "check": _check,
    "silence": _silence,
    "job-status": _job_status,
    "check-config": _check_config,
    "lint": _lint,
    "test": _test,
    "docs": _docs,
    "completion": _completion,
    "version": _version,
    "--version": _version,
}
