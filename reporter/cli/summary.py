"""
What ``check-config`` prints of a configuration that holds together.
"""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from reporter.cli.help import WIDTH
from reporter.model.entries import Catalogue
from reporter.model.words import Reason
from reporter.settings import FLAGS, Settings


def summary(settings: Settings, catalogue: Catalogue) -> str:
    """
    Reasons by state, flags that differ from their default, and what should be set right.
    """
    return "\n".join((*_reasons(catalogue), "", *_flags(settings), *_notes(settings)))


def _reasons(catalogue: Catalogue) -> Iterator[str]:
    yield f"The catalogue holds together: {len(catalogue.entries)} reasons."
    yield from _listed("on", catalogue.on)
    yield from _listed("off, by the overlay", catalogue.off)
    yield from _listed("pending, as their probes do not exist yet, and so off", catalogue.pending)


def _listed(state: str, reasons: Sequence[Reason]) -> Iterator[str]:
    if reasons:
        yield f"{len(reasons)} {state}:"
        yield from wrap(", ".join(reasons), WIDTH, initial_indent="  ", subsequent_indent="  ")


def _flags(settings: Settings) -> Iterator[str]:
    changed = [f for f in FLAGS if f.read(settings.flags[f.name]) != f.read(f.default)]
    yield "Flags that differ from their default:" if changed else "All flags have their default."
    yield from (f"  --{flag.name}={settings.flags[flag.name]}" for flag in changed)


def _notes(settings: Settings) -> Iterator[str]:
    if settings.notes:
        yield ""
        yield "To set right:"
        for note in settings.notes:
            yield from wrap(note, WIDTH, initial_indent="  ", subsequent_indent="    ")
