"""
Run the command that a command line names, or print its help. A line that is refused ends with 2.

What only one command needs is imported by it: catalogue, probes and API client take a second and tens
of MiB.
"""

import sys
from collections.abc import Mapping, Sequence

from reporter import PROGRAM_NAME
from reporter.cli.command import COMMANDS, all_commands, find_command
from reporter.cli.command_names import PLUGIN_COMMANDS, PLUGIN_DEFAULT_COMMAND
from reporter.model.suggest import suggest
from reporter.process.log_format import one_line
from reporter.settings import SettingsError
from reporter.settings.loading import IN_CLUSTER_VARIABLE


EXIT_BAD_CONFIGURATION = 2
SIDECAR_VARIABLES = frozenset({"JOB_NAME", "JOB_NAMESPACE", "POD_NAME"})
NO_COMMAND = """\
outside of a pod, name a command before the flags:
  run            be the controller of the cluster in the kubeconfig
  run --dry-run  the same, printing Events and writing nothing
  status         say what is wrong, once
--help lists all commands"""

ALL_FLAGS_HELP = frozenset({"-help-all", "--help-all"})
HELP_FLAGS = frozenset({"-h", "-help", "--help"}) | ALL_FLAGS_HELP
HELP_ARGUMENTS = HELP_FLAGS | {"help"}


def run_command(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """
    Run the command that *argv* names, and return its exit code. In a pod ``run`` is the default.

    The Go reporter has no commands, and its chart gives flags alone. Without any argument in a Job's
    sidecar it is job-status. Elsewhere a command is needed: a reporter that somebody starts to look at
    it must not become the leader of the cluster in their kubeconfig.
    """
    if not _has_command_name(argv) and not (HELP_FLAGS & set(argv)) and not _in_pod(environ):
        return _print_help("") if not argv else _print_refusal(NO_COMMAND)
    default = "job-status" if not argv and _is_sidecar(environ) else "run"
    name, arguments = (argv[0], argv[1:]) if _has_command_name(argv) else (default, argv)
    if name in HELP_ARGUMENTS:
        whole = bool(ALL_FLAGS_HELP & {name, *arguments})
        named = [each for each in arguments if each not in HELP_ARGUMENTS]
        return _print_help(named[0] if named else "", whole=whole)
    # The word may also be the value of a flag, or a name.
    if HELP_FLAGS & set(arguments) or "help" in arguments[:1]:
        whole = bool(ALL_FLAGS_HELP & set(arguments))
        return _print_help(name if _has_command_name(argv) else "", whole=whole)
    name = name.removeprefix("--")
    if name not in COMMANDS:
        return _print_refusal(_unknown_command(name))
    command = find_command(name)
    try:
        return command.run(command.parse(arguments), environ)
    except SettingsError as err:
        if command.on_refusal is not None:
            command.on_refusal(arguments, err)
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


def _print_help(name: str, *, whole: bool = False) -> int:
    from reporter.cli import help_pages  # noqa: PLC0415

    if name.removeprefix("--") in COMMANDS:
        command = find_command(name.removeprefix("--"))
        print(help_pages.render_command_help(command, whole=whole))
    elif not name:
        print(help_pages.render_help(all_commands(), whole=whole))
    else:
        return _print_refusal(_unknown_command(name))
    return 0


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
