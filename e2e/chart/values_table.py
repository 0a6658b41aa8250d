"""Write the tables of values into the charts' READMEs: `python -m e2e.chart.values_table`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from e2e.chart import CHART, HUB_CHART


READMES = [chart / "README.md" for chart in (CHART, HUB_CHART)]
BEGIN, END = "<!-- values, generated -->\n", "<!-- end of values -->\n"

Json = dict[str, Any]


def table(chart: Path) -> str:
    schema: Json = json.loads((chart / "values.schema.json").read_text())
    defaults: Json = yaml.safe_load((chart / "values.yaml").read_text())
    rows = [
        f"| `{name}` | {_shown(value)} | {text} |" for name, value, text in _rows(schema, defaults)
    ]
    return "\n".join(["| value | default | what it is |", "|---|---|---|", *rows, ""])


def _rows(schema: Json, defaults: Json, prefix: str = "") -> Iterator[tuple[str, object, str]]:
    """Yield a row for each value. A mapping with free keys is one value."""
    for name, default in defaults.items():
        described = schema["properties"][name]
        if "properties" in described:
            yield from _rows(described, default, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", default, described["description"]


def _shown(value: object) -> str:
    return (
        ""
        if value in ("", None)
        else f"`{json.dumps(value)}`".replace('`"', "`").replace('"`', "`")
    )


def updated(readme: Path) -> str:
    before, _, rest = readme.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table(readme.parent) + END + after


def main() -> int:
    for readme in READMES:
        readme.write_text(updated(readme))
    return 0


if __name__ == "__main__":
    sys.exit(main())
