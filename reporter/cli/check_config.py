"""The command ``check-config``."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum, unique

from reporter.cli.command import RUN_FLAGS, Command, output
from reporter.cli.configuration import load_configuration
from reporter.cli.story_tests import render_summary, summary_as_json
from reporter.settings import Arguments, SettingsError


@unique
class ConfigFormat(StrEnum):
    """The values of ``--output`` of check-config: TEXT for people, JSON for programs."""

    TEXT = "text"
    JSON = "json"


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    form: ConfigFormat = arguments.value("output")
    settings, catalogue = load_configuration(arguments.run_flags, environ)
    if form is ConfigFormat.JSON:
        _print_json({"valid": True, **summary_as_json(settings, catalogue)})
    else:
        print(render_summary(settings, catalogue))
    return 0


def _print_refusal(argv: Sequence[str], err: SettingsError) -> None:
    """Print a refusal as an object too, if the line asks for JSON, also one that is none as a whole."""
    if any(_output_of(argv[i : i + 2]) == ConfigFormat.JSON for i in range(len(argv))):
        _print_json({"valid": False, "flag": err.flag, "error": err.text})


def _output_of(words: Sequence[str]) -> str:
    try:
        return CHECK_CONFIG.parse(words).values["output"]
    except SettingsError:
        return ConfigFormat.TEXT


def _print_json(content: Mapping[str, object]) -> None:
    print(json.dumps(content, indent=2))


CHECK_CONFIG = Command(
    run=_run,
    summary="Check flags, catalogue and overlay, and print what is in effect.",
    usage="check-config [FLAGS]",
    examples=(
        ("check-config --catalogue-overlay=overlay.yaml", "before it is installed"),
        ("check-config -o json", "for a program"),
    ),
    flags=(output(ConfigFormat),),
    settings=RUN_FLAGS,
    takes_names=False,
    on_refusal=_print_refusal,
)
