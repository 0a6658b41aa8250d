"""Record the metrics pages of model servers anew, and print how they differ."""

import argparse
import sys

from e2e.controlplane.assets import AssetsMissing
from e2e.controlplane.golang import BuildFailed
from e2e.engines import simulator
from e2e.engines.recording import record, record_simulator
from e2e.engines.releases import RELEASES, SourcesMissing


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m e2e.engines", description=__doc__)
    parser.parse_args()
    failed = False
    for release in RELEASES:
        try:
            print(record(release), flush=True)
        except SourcesMissing as err:
            failed = True
            print(f"{release.page}: NOT RECORDED, {err}", file=sys.stderr)
    try:
        print(record_simulator())
    except (AssetsMissing, BuildFailed) as err:
        failed = True
        print(f"{simulator.PAGE}: NOT RECORDED, {err}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
