"""
Find or build what the real control plane needs, and print where it is.
"""

import argparse
import sys

from e2e.controlplane import assets
from e2e.controlplane.golang import BuildFailed


AGAIN = "What is already built is kept; `make controlplane` builds the rest."


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m e2e.controlplane", description=__doc__)
    parser.add_argument("--quiet", action="store_true", help="print only what is missing or built")
    arguments = parser.parse_args()
    try:
        found = assets.find_or_build()
    except assets.AssetsMissing as err:
        print(f"\nNO REAL CONTROL PLANE\n{err}\n", file=sys.stderr)
        return 1
    except BuildFailed as err:
        print(f"\nNO REAL CONTROL PLANE\n{err}\n\n{AGAIN}\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped. {AGAIN}", file=sys.stderr)
        return 130
    if not arguments.quiet:
        for name, path in sorted(found.programs.items()):
            print(f"{name:24} {path}")
        print(f"{'CRDs and kwok stages':24} {found.manifests}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
