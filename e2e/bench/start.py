"""
Measure how long the reporter takes from its start to its first full pass, and its memory then.

Once with an API server that has served the same lists before, once with one that was itself started
just before and has to read everything from etcd. Each beside the floor: a bare client that reads the
same lists of the same server in the same state.
"""

import argparse
import sys
from collections.abc import Iterator

from e2e.bench import bare_list
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
    floor = bare_list.seconds(scene.plane)
    with scene.reporting() as started:
        return row(scene, started, "warm", floor)


def cold(scene: Scene) -> Row:
    _restart(scene)
    floor = bare_list.seconds(scene.plane)
    _restart(scene)
    with scene.reporting() as started:
        return row(scene, started, "API server just started", floor)


def _restart(scene: Scene) -> None:
    scene.plane.stop_api_server()
    scene.plane.start_api_server()


def row(scene: Scene, started: Started, how: str, floor: float) -> Row:
    return Row(
        f"start to first full pass, {scene.size:,} InferenceSets, {how}",
        f"≤ {GOAL:g} s",
        f"{started.took:.1f} s",
        started.took <= GOAL,
        f"floor {floor:.1f} s: the lists alone, by a bare client;"
        f" {started.cost.cpu:.1f} s of CPU, {started.cost.peak:.0f} MiB at most until then",
    )


if __name__ == "__main__":
    sys.exit(main())
