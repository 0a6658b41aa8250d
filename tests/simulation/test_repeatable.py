"""A scenario that was printed can be run again: only its seed decides what happens."""

import os
import subprocess
import sys
from pathlib import Path


SCENARIO = """
from reporter.kinds.default_kinds import DEFAULT_KINDS
from tests.simulation.simulation import Simulation

with Simulation(3) as simulation:
    for trouble in ("router at zero", "model unready", "route deleted", "data plane out"):
        simulation.begin_trouble(trouble)
        simulation.advance(40)
    simulation.cut_watches(0, DEFAULT_KINDS, 700)
    simulation.advance(30)
    simulation.check_final_state()
    print([(each.at, each.verb, each.name) for each in simulation.events.writes])
"""


def writes_of_a_process(hash_seed: int) -> str:
    environ = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCENARIO],
        env=environ,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_order_of_sets_decides_nothing():
    first, second, third = map(writes_of_a_process, (0, 5, 7))
    assert first == second == third != "[]\n"
