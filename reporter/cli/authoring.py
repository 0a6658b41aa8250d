"""The exit codes and flags that test, lint and docs share."""

from reporter.cli.command import Flag
from reporter.settings import Arguments, SettingsError
from reporter.settings.parsers import parse_packs


EXIT_PASSED = 0
EXIT_DIFFERENT = 1
EXIT_REFUSED = 2

OVERLAY = Flag(
    name="catalogue-overlay",
    help="The overlay of the catalogue; empty: the shipped catalogue.",
    placeholder="FILE",
)
PACKS = Flag(
    name="packs",
    help="Packs of the catalogue: names, or folders with a /.",
    placeholder="PACKS",
    default="kaito",
    parse=parse_packs,
)


def refuse_run_flags(arguments: Arguments) -> None:
    """Raise SettingsError for a flag of ``run`` that shapes an evaluation: it has no effect here."""
    for name in arguments.settings:
        raise SettingsError(f"--{name}", "has no effect here; a story gives its own under `flags`")
