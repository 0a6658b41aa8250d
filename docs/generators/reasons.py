"""
The reference of all reasons of all packs that are shipped.

``python -m docs.generators.reasons`` writes docs/reasons.md; a test compares it with the catalogue.
"""

from pathlib import Path

from reporter.catalogue.loader import default_folder
from reporter.catalogue.overlay import DEFAULT_PACKS, shipped_packs
from reporter.catalogue.reason_reference import render_reasons


COMMAND = "python -m docs.generators.reasons"
PAGE = Path(__file__).parents[1] / "reasons.md"
PACKS = tuple(dict.fromkeys((*DEFAULT_PACKS, *shipped_packs(default_folder()))))
"""The packs of the page, the default first."""


if __name__ == "__main__":
    PAGE.write_text(render_reasons(default_folder(), PACKS), "utf-8")
