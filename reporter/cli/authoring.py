"""The exit codes and flags that test, lint and docs share."""

from collections.abc import Sequence

from reporter.cli.arguments import Arguments, CommandFlag, parse_arguments
from reporter.settings import SettingsError
from reporter.settings.parsers import parse_packs


EXIT_PASSED = 0
EXIT_DIFFERENT = 1
EXIT_REFUSED = 2


# --------------------------------------------------------------------
# The flags of test, lint and docs.


OVERLAY = CommandFlag(
    "catalogue-overlay", "The overlay of the catalogue; empty: the shipped catalogue.", "FILE"
)
PACKS = CommandFlag(
    "packs", "Packs of the catalogue: names, or folders with a /.", "PACKS", default="kaito"
)
TEST_FLAGS = (
    CommandFlag("output", "The format.", "text|json|junit", short="o", default="text"),
    OVERLAY,
    PACKS,
    CommandFlag(
        "coverage", "Name the reasons of the catalogue, and the codes, that no story announces."
    ),
    CommandFlag("schema", "Print the JSON Schema of a story's file, and end."),
)
LINT_FLAGS = (
    CommandFlag("output", "The format.", "text|json|junit", short="o", default="text"),
    PACKS,
)
DOCS_FLAGS = (OVERLAY, PACKS)


def parse_authoring(argv: Sequence[str], flags: Sequence[CommandFlag]) -> Arguments:
    """
    Parse a command line. Raises SettingsError also for flags of ``run``, which have no effect here.
    """
    arguments = parse_arguments(argv, flags)
    for each in arguments.run_flags:
        flag = each.partition("=")[0]
        raise SettingsError(flag, "has no effect here; a story gives its own under `flags`")
    return arguments


def packs_of(arguments: Arguments) -> tuple[str, ...]:
    """Return the packs that are asked for. Raises SettingsError."""
    text = arguments.values[PACKS.name]
    try:
        return parse_packs(text)
    except ValueError as err:
        raise SettingsError(f"--packs={text}", str(err)) from err
