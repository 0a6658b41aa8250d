"""
The second engine of the queries: find it, or build it with Go from the module pinned beside this file.
"""

import argparse
import sys
from pathlib import Path

from e2e.controlplane import golang, pins
from e2e.controlplane.golang import BuildFailed, Program


MODULE = Path(__file__).parent / "victoriametrics"
PATH = "github.com/VictoriaMetrics/VictoriaMetrics"
VERSION = pins.version(str(MODULE), PATH)
PROGRAM = Program(
    *("victoria-metrics", str(MODULE), f"{PATH}/app/victoria-metrics"),
    "about 2 minutes the first time",
)
HOW = f"""\
The queries of the hub were checked with Prometheus alone, and not with VictoriaMetrics {VERSION}:
neither their syntax there, nor what it makes of label names, limits, and series that end.
Install Go 1.26 or newer and run `.venv/bin/python -m e2e.hub.parts.victoria_metrics`, which needs the
Go module proxy."""


class VictoriaMetricsMissing(Exception):
    """It is not built; the text says what is not checked, and what to do."""


def find() -> Path:
    """Return the program. Raises VictoriaMetricsMissing."""
    found = pins.cache_folder().parent / f"victoria-metrics-{VERSION}"
    if not found.is_file():
        raise VictoriaMetricsMissing(HOW)
    return found


def find_or_build() -> Path:
    """
    Return the program. Raises VictoriaMetricsMissing without Go, BuildFailed if the build fails.
    """
    try:
        return find()
    except VictoriaMetricsMissing:
        if golang.go() is None:
            raise
    golang.build(PROGRAM, pins.cache_folder().parent / f"victoria-metrics-{VERSION}")
    return find()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.hub.parts.victoria_metrics", description=__doc__
    )
    parser.add_argument("--quiet", action="store_true", help="print only what is missing or built")
    arguments = parser.parse_args()
    try:
        found = find_or_build()
    except (VictoriaMetricsMissing, BuildFailed) as err:
        why = f"{err}\n{HOW}" if isinstance(err, BuildFailed) else str(err)
        print(f"\nNO SECOND ENGINE\n{why}\n", file=sys.stderr)
        return 1
    if not arguments.quiet:
        print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
