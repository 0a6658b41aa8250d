"""
Copy the templates that both charts have from the reporter's to the hub's: `python -m e2e.chart.shared`.

Each chart is packaged and installed by itself. The copies have names of their own, as those of all
charts of an umbrella are in one place.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from e2e.chart import CHART, HUB_CHART


FOLDER = Path("templates") / "shared"
NOTE = "{{{{- /* A copy of {file}, by python -m e2e.chart.shared; a test compares. */}}}}\n"


def contents() -> Mapping[Path, str]:
    """Return the text of each copy."""
    return {
        HUB_CHART / FOLDER / file.name: NOTE.format(file=file.relative_to(CHART.parent))
        + file.read_text("utf-8").replace('"reporter.', '"hub.')
        for file in sorted((CHART / FOLDER).iterdir())
    }


def main() -> int:
    (HUB_CHART / FOLDER).mkdir(exist_ok=True)
    for file, text in contents().items():
        file.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
