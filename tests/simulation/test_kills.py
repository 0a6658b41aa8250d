"""
Replicas that are killed and stopped at random while a component goes out again and again.

An Event without a newer Ready is a running episode, which the next leader continues.
"""

from random import Random

import pytest

from tests.simulation.rules import SETTLE
from tests.simulation.simulation import Simulation


BBR, READY = "clusterBBRNotReady", "clusterReady"
STEP = 0.25
ENOUGH = 1.0
"""
The seconds under one leader within which an Event is written: it reads the others back first.
"""


class KillSchedule:
    """
    Outages and kills of some minutes, with who led when.

    *leaders*: each leader with the begin and end of its time.
    """

    def __init__(self, simulation: Simulation, seed: int) -> None:
        self.simulation, self.random = simulation, Random(seed)
        self.outages: list[tuple[float, float]] = []
        self.leaders: list[tuple[str, float, float]] = []

    def run(self, outages: int) -> None:
        next_kill = self.now + self.random.uniform(5, 25)
        for _ in range(outages):
            began = self.now
            self.simulation.begin_trouble("router at zero")
            next_kill = self._advance(self.random.uniform(0.5, 14), next_kill)
            self.simulation.end_trouble("router at zero")
            self.outages.append((began, self.now))
            next_kill = self._advance(self.random.uniform(2, 2 * SETTLE), next_kill)

    @property
    def now(self) -> float:
        return self.simulation.clock.now

    def _advance(self, seconds: float, next_kill: float) -> float:
        end = self.now + seconds
        while self.now < end:
            if self.now >= next_kill:
                number = self.random.randrange(2)
                if self.simulation.replicas[number].alive:
                    action = self.random.choice([self.simulation.kill, self.simulation.stop])
                    action(number, self.random.uniform(1, 12))
                next_kill = self.now + self.random.uniform(5, 25)
            before = self.now
            self.simulation.advance(min(STEP, end - self.now))
            for leader in self._leading():
                self.leaders.append((leader, before, self.now))
        return next_kill

    def _leading(self) -> list[str]:
        replicas = self.simulation.replicas
        return [r.identity for r in replicas if r.alive and r.elector.holds_lease()]

    def steady(self, begin: float, end: float) -> float:
        """Return the longest time under one leader between these moments."""
        led: dict[str, float] = {}
        for leader, since, until in self.leaders:
            led[leader] = led.get(leader, 0.0) + max(min(end, until) - max(begin, since), 0.0)
        return max(led.values(), default=0.0)

    def writes(self, begin: float, end: float) -> list[str]:
        return [w.record.key.reason for w in self.simulation.events.writes if begin <= w.at <= end]


@pytest.mark.parametrize("seed", range(3))
def test_kills_hide_no_trouble_and_no_ready_from_a_leader_that_is_steady(seed):
    with Simulation(seed) as simulation:
        schedule = KillSchedule(simulation, seed)
        schedule.run(14)
        ends = [began for began, _ in schedule.outages[1:]] + [schedule.now]
        for (began, ended), calm_until in zip(schedule.outages, ends, strict=True):
            earlier = schedule.writes(0, began)
            if schedule.steady(began, ended) > ENOUGH and earlier[-1:] != [BBR]:
                assert BBR in schedule.writes(began, ended + ENOUGH)
            owed = schedule.writes(0, ended + ENOUGH)[-1:] == [BBR]
            if owed and schedule.steady(ended + SETTLE, calm_until) > SETTLE + ENOUGH:
                assert READY in schedule.writes(ended, calm_until)
        simulation.check_final_state()
