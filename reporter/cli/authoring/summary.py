"""Render what ``check-config`` prints about a valid configuration."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from reporter.cli.arguments.flags import WIDTH
from reporter.model.catalogue.entries import Catalogue
from reporter.model.enums import Reason
from reporter.runtime.inputs.coverage import find_idle_reasons
from reporter.settings import FLAGS, Flag, Settings
from reporter.stages.probes.specs import SPECS


def render_summary(settings: Settings, catalogue: Catalogue) -> str:
    """Return the reasons by state, the flags that differ from their default, and the notes."""
    return "\n".join(
        (*_reason_lines(settings, catalogue), "", *_flag_lines(settings), *_note_lines(settings))
    )


def summary_as_json(settings: Settings, catalogue: Catalogue) -> dict[str, object]:
    """Return the same as JSON values; *flags* has the text in effect of every flag."""
    idle = find_idle_reasons(catalogue, SPECS, settings.flag_texts)
    return {
        "reasons": {
            "on": [each for each in catalogue.enabled_reasons if each not in idle],
            "checkingNothing": dict(idle),
            "off": list(catalogue.disabled_reasons),
        },
        "flags": dict(settings.flag_texts),
        "changedFlags": [flag.name for flag in _changed_flags(settings)],
        "notes": list(settings.notes),
    }


def _reason_lines(settings: Settings, catalogue: Catalogue) -> Iterator[str]:
    yield f"The catalogue is valid: {len(catalogue.entries)} reasons."
    idle = find_idle_reasons(catalogue, SPECS, settings.flag_texts)
    yield from _reason_list("on", [each for each in catalogue.enabled_reasons if each not in idle])
    if idle:
        yield f"{len(idle)} on, but checking nothing with these flags:"
        yield from (f"  {reason}: {what_to_set}" for reason, what_to_set in idle.items())
    yield from _reason_list("off, by default or by the overlay", catalogue.disabled_reasons)


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
