"""Find or build what the real control plane needs, and print where it is."""

import argparse
import sys

from e2e.controlplane import assets
from e2e.controlplane.golang import BuildFailed


AGAIN = "What is already built is kept; `make controlplane` builds the rest."


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m e2e.controlplane", description=__doc__)
    parser.add_argument("--quiet", action="store_true", help="print only what is missing or built")
    text = "only that without which no test runs; tests build the rest when they need it"
    parser.add_argument("--core", action="store_true", help=text)
    arguments = parser.parse_args()
    try:
        found = assets.find_or_build(core=arguments.core)
    except assets.AssetsMissing as err:
        print(f"\n{_title()}\n{err}\n", file=sys.stderr)
        return 1
    except BuildFailed as err:
        print(f"\n{_title()}\n{err}\n\n{AGAIN}\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped. {AGAIN}", file=sys.stderr)
        return 130
    if not arguments.quiet:
        for name, path in sorted(found.items()):
            print(f"{name:24} {path}")
    return 0


def _title() -> str:
    try:
        assets.find()
    except assets.AssetsMissing:
        return "NO REAL CONTROL PLANE"
    return "NOT ALL PROGRAMS OF THE CONTROL PLANE"


if __name__ == "__main__":
    sys.exit(main())
