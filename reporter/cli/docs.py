"""The command ``docs``."""

from collections.abc import Sequence
from pathlib import Path

from reporter import PROGRAM_NAME
from reporter.catalogue.loader import default_folder
from reporter.catalogue.problems import CatalogueError
from reporter.catalogue.published_reasons import render_reasons
from reporter.cli.arguments import render_flags
from reporter.cli.authoring import DOCS_FLAGS, EXIT_PASSED, packs_of, parse_authoring
from reporter.cli.configuration import load_shipped_catalogue
from reporter.settings import SettingsError


HELP = f"""\
Render the reference of all reasons as Markdown.

Usage:
  {PROGRAM_NAME} docs [FLAGS]

Each reason has a section: what it means, who must act, how long it is held, an
example of its Event, what to do first, the remedy of each cause, and what it
suppresses and why. It is that of the packs that --packs names, and with an
overlay that of one's own catalogue.

{{examples}}

{{flags}}

Exit codes: 0 rendered, 2 the overlay or the command line is refused."""


def run_docs(argv: Sequence[str]) -> int:
    """Run the command and return its exit code. Raises SettingsError."""
    arguments = parse_authoring(argv, DOCS_FLAGS)
    if arguments.names:
        raise SettingsError("", f"unexpected argument {arguments.names[0]!r}; docs takes none")
    text = arguments.values["catalogue-overlay"]
    overlay = Path(text) if text else None
    packs = packs_of(arguments)
    load_shipped_catalogue(overlay, packs)
    try:
        print(render_reasons(default_folder(), packs, overlay), end="")
    except CatalogueError as err:
        raise SettingsError(f"--catalogue-overlay={overlay}", str(err)) from err
    return EXIT_PASSED


def render_help(examples: str) -> str:
    return HELP.format(examples=examples, flags=render_flags(DOCS_FLAGS))
