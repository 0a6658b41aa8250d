"""
Measure how long the reporter takes from its start to its first full pass, and its memory then.

Once with an API server that has served the same lists before, once with one that was itself started
just before and has to read everything from etcd.
"""

import argparse
import sys
from collections.abc import Iterator

from e2e.bench.rows import Row
from e2e.bench.scene import Scene, Started, parser, program


GOAL = 10.0
"""
Seconds to the first full pass.
"""


def main() -> int:
    return program(parser("start", __doc__, (100, 1_000)).parse_args(), measure)


def measure(scene: Scene, _: argparse.Namespace) -> Iterator[Row]:
    yield warm(scene)
    yield cold(scene)


def warm(scene: Scene) -> Row:
    with scene.reporting():
        pass  # so that the API server has served it all once
    with scene.reporting() as started:
        return row(scene, started, "warm")


def cold(scene: Scene) -> Row:
    scene.plane.stop_api_server()
    scene.plane.start_api_server()
    with scene.reporting() as started:
        return row(scene, started, "API server just started")


def row(scene: Scene, started: Started, how: str) -> Row:
    return Row(
        f"start to first full pass, {scene.size:,} InferenceSets, {how}",
        f"≤ {GOAL:g} s",
        f"{started.took:.1f} s",
        started.took <= GOAL,
        f"{started.cost.cpu:.1f} s of CPU, {started.cost.peak:.0f} MiB at most until then",
    )


if __name__ == "__main__":
    sys.exit(main())
