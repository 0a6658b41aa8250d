"""The exit codes and flags that test, lint and docs share."""

from reporter.settings import Flag
from reporter.settings.parsers import parse_packs


EXIT_PASSED = 0
EXIT_DIFFERENT = 1
EXIT_REFUSED = 2

OVERLAY = Flag(
    "catalogue-overlay", "The overlay of the catalogue; empty: the shipped catalogue.", "FILE"
)
PACKS = Flag(
    "packs",
    "Packs of the catalogue: names, or folders with a /.",
    "PACKS",
    default="kaito",
    parse=parse_packs,
)


HINT = "; a story gives its own under `flags`"
