"""The command ``docs``."""

from collections.abc import Mapping
from pathlib import Path

from reporter.catalogue.loader import default_folder
from reporter.catalogue.problems import CatalogueError
from reporter.catalogue.reason_reference import render_reasons
from reporter.cli.authoring import EXIT_PASSED, HINT, OVERLAY, PACKS
from reporter.cli.command import Command
from reporter.cli.configuration import load_shipped_catalogue
from reporter.settings import Arguments, SettingsError


def _run(arguments: Arguments, _: Mapping[str, str]) -> int:
    if arguments.names:
        raise SettingsError("", f"unexpected argument {arguments.names[0]!r}; docs takes none")
    text = arguments.values["catalogue-overlay"]
    overlay = Path(text) if text else None
    packs = arguments.value("packs")
    load_shipped_catalogue(overlay, packs)
    try:
        print(render_reasons(default_folder(), packs, overlay), end="")
    except CatalogueError as err:
        raise SettingsError(f"--catalogue-overlay={overlay}", str(err)) from err
    return EXIT_PASSED


DOCS = Command(
    run=_run,
    summary="Render the reference of all reasons as Markdown.",
    usage="docs [FLAGS]",
    about="""\
Each reason has a section: what it means, who must act, how long it is held, an
example of its Event, what to do first, the remedy of each cause, and what it
suppresses and why. It is that of the packs that --packs names, and with an
overlay that of one's own catalogue.""",
    examples=(
        ("docs > reasons.md", "of the shipped catalogue"),
        ("docs --packs=kserve > kserve.md", "of a pack"),
        ("docs --catalogue-overlay=own.yaml > own.md", "of one's own"),
    ),
    flags=(OVERLAY, PACKS),
    hint=HINT,
    notes="""\
Exit codes: 0 rendered, 2 the overlay or the command line is refused.""",
)
