"""Write the names of the reasons by pack, for what an overlay changes: `python -m e2e.chart.reasons`."""

import sys

import yaml

from e2e.chart import CHART
from reporter.catalogue.loader import default_folder
from reporter.catalogue.overlay import shipped_packs
from reporter.catalogue.reason_reference import read_entries


FILE = CHART / "files" / "reasons.yaml"
HEADER = """\
# Generated from the catalogue by `python -m e2e.chart.reasons`; a test compares.
"""


def content() -> str:
    """Return the reasons of each pack, and those that every pack has."""
    found = {
        pack: {entry.reason for entry in read_entries(default_folder(), [pack])}
        for pack in shipped_packs(default_folder())
    }
    always = set.intersection(*found.values())
    packs = {pack: sorted(reasons - always) for pack, reasons in found.items()}
    return HEADER + yaml.safe_dump({"always": sorted(always), "packs": packs}, sort_keys=False)


def main() -> int:
    FILE.write_text(content())
    return 0


if __name__ == "__main__":
    sys.exit(main())
