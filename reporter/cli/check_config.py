"""The command ``check-config``."""

import json
from collections.abc import Mapping, Sequence

from reporter.cli.arguments import CHECK_CONFIG_FLAGS, parse_arguments
from reporter.cli.configuration import load_configuration
from reporter.cli.story_tests import render_summary, summary_as_json
from reporter.settings import FLAGS, SettingsError


TEXT, JSON = "text", "json"
KNOWN = {flag.name: flag for flag in FLAGS}


def run_check_config(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """
    Print what is in effect and return the exit code. Raises SettingsError for what is refused.

    With ``--output=json`` a refusal is an object on standard output too.
    """
    try:
        return _check(argv, environ)
    except SettingsError as err:
        if _asks_for_json(argv):
            _print_json({"valid": False, "flag": err.flag, "error": err.text})
        raise


def _check(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    arguments = parse_arguments(argv, CHECK_CONFIG_FLAGS, KNOWN)
    form = arguments.values["output"]
    if form not in {TEXT, JSON}:
        raise SettingsError(f"--output={form}", f"must be one of {TEXT}, {JSON}")
    if arguments.names:
        raise SettingsError("", f"unexpected argument {arguments.names[0]!r}; flags begin with --")
    settings, catalogue = load_configuration(arguments.run_flags, environ)
    if form == JSON:
        _print_json({"valid": True, **summary_as_json(settings, catalogue)})
    else:
        print(render_summary(settings, catalogue))
    return 0


def _asks_for_json(argv: Sequence[str]) -> bool:
    """Return whether a line asks for JSON, also one that cannot be parsed as a whole."""
    return any(_output_of(argv[i : i + 2]) == JSON for i in range(len(argv)))


def _output_of(words: Sequence[str]) -> str:
    try:
        return parse_arguments(words, CHECK_CONFIG_FLAGS, KNOWN).values["output"]
    except SettingsError:
        return TEXT


def _print_json(content: Mapping[str, object]) -> None:
    print(json.dumps(content, indent=2))
