"""
Write the golden files, so that reviews show what a change renders: `python -m e2e.chart.golden`.
"""

import sys
import tempfile
from pathlib import Path

from e2e.chart import CHART, HUB_CHART
from e2e.chart.helm import Helm


HERE = Path(__file__).parent
VALUES = sorted((HERE / "values").glob("*.yaml"))
OF_REPORTER = [each for each in VALUES if each.stem != "hub"]
OPERATOR = "--api-versions=monitoring.coreos.com/v1"


def rendered(helm: Helm, values: Path) -> str:
    chart = HUB_CHART if values.stem == "hub" else CHART
    return helm(
        *("template", "stack", str(chart), "--namespace=kaito-system", f"--values={values}"),
        OPERATOR,
    )


def golden(values: Path) -> Path:
    return HERE / "golden" / values.name


def main() -> int:
    with tempfile.TemporaryDirectory() as home:
        for values in VALUES:
            golden(values).write_text(rendered(Helm(Path(home)), values))
    return 0


if __name__ == "__main__":
    sys.exit(main())
