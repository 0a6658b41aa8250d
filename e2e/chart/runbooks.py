"""
Write the first steps of the runbooks, for alerts without a link: `python -m e2e.chart.runbooks`.

Those of an alert are from its section of docs/alerts.md, those of a finding from the entry of its reason.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from msgspec import UNSET

from e2e.chart import CHART, HUB_CHART
from reporter.catalogue.loader import default_folder
from reporter.catalogue.overlay import shipped_packs
from reporter.catalogue.reason_reference import read_entries


PAGE = CHART.parents[1] / "docs" / "alerts.md"
HEADER = """\
# Generated from docs/alerts.md and the catalogue by `python -m e2e.chart.runbooks`; a test compares.
"""
OF_HUB = "\n## The hub\n"
STEPS = 2
"""The number of steps of a reason; the command prints all."""


def contents() -> Mapping[Path, str]:
    """Return the text of each file."""
    reporter, _, hub = PAGE.read_text("utf-8").partition(OF_HUB)
    reasons = {
        pack: {
            entry.reason: _plain("\n".join(_numbered(entry.runbook[:STEPS])))
            for entry in read_entries(default_folder(), [pack])
            if entry.runbook is not UNSET
        }
        for pack in shipped_packs(default_folder())
    }
    return {
        CHART / "files" / "runbooks.yaml": _text(
            {"alerts": dict(_sections(reporter)), "reasons": reasons}
        ),
        HUB_CHART / "files" / "runbooks.yaml": _text({"alerts": dict(_sections(hub))}),
    }


def _sections(page: str) -> Iterator[tuple[str, str]]:
    """Yield the steps of each alert, or its text if it has none."""
    for part in re.split(r"^### ", page, flags=re.MULTILINE)[1:]:
        name, _, text = re.split(r"^## ", part, flags=re.MULTILINE)[0].partition("\n")
        lines = re.sub(r"\n +", " ", text.strip()).split("\n")
        steps = [re.sub(r"^\d+\. ", "", line) for line in lines if re.match(r"\d+\. ", line)]
        yield name, _plain("\n".join(_numbered(steps)) if steps else " ".join(lines))


def _numbered(steps: Sequence[str]) -> Iterator[str]:
    return (f"{number}. {step}" for number, step in enumerate(steps, 1))


def _plain(text: str) -> str:
    """Return Markdown without its links, which lead nowhere from an alert."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)


def _text(content: Mapping[str, object]) -> str:
    return HEADER + yaml.safe_dump(content, sort_keys=True, width=120, allow_unicode=True)


def main() -> int:
    for file, text in contents().items():
        file.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
