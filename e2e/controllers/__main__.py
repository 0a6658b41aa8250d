"""Find or build the controllers of a production stack, and print where they are."""

import argparse
import sys

from e2e.controllers import programs, released
from e2e.controlplane import assets
from e2e.controlplane.golang import BuildFailed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m e2e.controllers", description=__doc__)
    parser.add_argument("--quiet", action="store_true", help="print only what is missing or built")
    arguments = parser.parse_args()
    try:
        found = {name: assets.program(name) for name in programs.PROGRAMS}
    except (assets.AssetsMissing, BuildFailed) as err:
        print(f"\nNO CONTROLLERS\n{err}\n{programs.HOW}\n", file=sys.stderr)
        return 1
    for name, why in programs.NOT_RUN.items():
        print(f"{name:17} NOT RUN: {why}", file=sys.stderr)
    try:
        found[released.ISTIOD.name] = str(released.find_or_take(released.ISTIOD))
    except (released.ReleaseMissing, assets.AssetsMissing, BuildFailed) as err:
        print(f"{released.ISTIOD.name:17} NOT RUN: {err}\n{programs.NO_ISTIOD}", file=sys.stderr)
    if not arguments.quiet:
        for name, path in found.items():
            print(f"{name:16} {programs.version(name):9} {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
