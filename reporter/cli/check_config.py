"""The command ``check-config``."""

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum, unique
from textwrap import wrap

from reporter.catalogue.entries import Catalogue
from reporter.cli.command import RUN_FLAGS, WIDTH, Command, output
from reporter.cli.configuration import load_configuration
from reporter.controller.coverage import find_unchecked
from reporter.evaluation.registry import SPECS
from reporter.model.enums import Reason
from reporter.settings import FLAGS, Arguments, Flag, Settings, SettingsError


@unique
class ConfigFormat(StrEnum):
    """The values of ``--output`` of check-config: TEXT for people, JSON for programs."""

    TEXT = "text"
    JSON = "json"


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    form: ConfigFormat = arguments.value("output")
    settings, catalogue = load_configuration(arguments.run_flags, environ)
    if form is ConfigFormat.JSON:
        _print_json({"valid": True, **_summary_as_json(settings, catalogue)})
    else:
        print(_render_summary(settings, catalogue))
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


def _render_summary(settings: Settings, catalogue: Catalogue) -> str:
    """Return the reasons by state, the flags that differ from their default, and the notes."""
    return "\n".join(
        (*_reason_lines(settings, catalogue), "", *_flag_lines(settings), *_note_lines(settings))
    )


def _summary_as_json(settings: Settings, catalogue: Catalogue) -> dict[str, object]:
    """Return the same as JSON values; *flags* has the text in effect of every flag."""
    unchecked = find_unchecked(catalogue, SPECS, settings.flag_texts)
    return {
        "reasons": {
            "on": [each for each in catalogue.enabled_reasons if each not in unchecked],
            "notChecked": dict(unchecked),
            "disabled": list(catalogue.disabled_reasons),
        },
        "flags": dict(settings.flag_texts),
        "changedFlags": [flag.name for flag in _changed_flags(settings)],
        "notes": list(settings.notes),
    }


def _reason_lines(settings: Settings, catalogue: Catalogue) -> Iterator[str]:
    yield f"The catalogue is valid: {len(catalogue.entries)} reasons."
    unchecked = find_unchecked(catalogue, SPECS, settings.flag_texts)
    yield from _reason_list(
        "on", [each for each in catalogue.enabled_reasons if each not in unchecked]
    )
    if unchecked:
        yield f"{len(unchecked)} on, but not checked with these flags:"
        yield from (f"  {reason}: {what_to_set}" for reason, what_to_set in unchecked.items())
    yield from _reason_list("disabled, by default or by the overlay", catalogue.disabled_reasons)


def _reason_list(state: str, reasons: Sequence[Reason]) -> Iterator[str]:
    if reasons:
        yield f"{len(reasons)} {state}:"
        yield from wrap(", ".join(reasons), WIDTH, initial_indent="  ", subsequent_indent="  ")


def _changed_flags(settings: Settings) -> list[Flag]:
    return [f for f in FLAGS if f.parse(settings.flag_texts[f.name]) != f.parse(f.default)]


def _flag_lines(settings: Settings) -> Iterator[str]:
    changed = _changed_flags(settings)
    yield "Flags that differ from their default:" if changed else "All flags have their default."
    yield from (f"  --{flag.name}={settings.flag_texts[flag.name]}" for flag in changed)


def _note_lines(settings: Settings) -> Iterator[str]:
    if settings.notes:
        yield ""
        yield "Notes:"
        for note in settings.notes:
            yield from wrap(note, WIDTH, initial_indent="  ", subsequent_indent="    ")


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
