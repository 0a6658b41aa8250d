"""
The commands and their exit codes: 0 for success, 2 for a configuration that is refused.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

from reporter.cli.configuration import configuration
from reporter.cli.help import PROGRAM, help_text
from reporter.cli.summary import summary
from reporter.settings import SettingsError
from reporter.sinks.lines import one_line


Command: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], int]

REFUSED = 2
HELP = frozenset({"help", "-h", "-help", "--help"})


def command(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """
    Without the name of a command, its flags are those of run: so the chart starts it.
    """
    name, arguments = (argv[0], argv[1:]) if _named(argv) else ("run", argv)
    if name in HELP or (name != "demo" and HELP & set(arguments)):
        print(help_text())
        return 0
    if name not in COMMANDS:
        return _refuse(_unknown(name))
    try:
        return COMMANDS[name](arguments, environ)
    except SettingsError as err:
        return _refuse(str(err))


def _named(argv: Sequence[str]) -> bool:
    return bool(argv) and (not argv[0].startswith("-") or argv[0] in {*HELP, "--version"})


def _refuse(text: str) -> int:
    # What was given may hold anything, also what a terminal would obey.
    print(PROGRAM, "\n".join(map(one_line, text.split("\n"))), sep=": ", file=sys.stderr)
    return REFUSED


def _unknown(name: str) -> str:
    close = get_close_matches(name, sorted(COMMANDS), n=1)
    offer = f"did you mean {close[0]}?" if close else "--help lists all"
    return f"there is no command {name!r}; {offer}"


def _run(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    settings, catalogue = configuration(arguments, environ)
    # Only here, as the other commands need no API client.
    from reporter.app import run  # noqa: PLC0415

    return run(settings, catalogue)


def _demo(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    # Only here, as the other commands need no API server.
    from reporter.demo import run  # noqa: PLC0415

    return run(arguments)


def _check(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    print(summary(*configuration(arguments, environ)))
    return 0


def _version(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    if arguments:
        raise SettingsError("", f"unexpected argument {arguments[0]!r}; version takes none")
    try:
        print(version(PROGRAM))
    except PackageNotFoundError:
        print("not installed: run from its sources")
    return 0


COMMANDS: Mapping[str, Command] = {
    "run": _run,
    "demo": _demo,
    "check-config": _check,
    "version": _version,
    "--version": _version,
}
