import logging

import pytest

from tests.simulation.simulation import Simulation


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL)


@pytest.fixture
def simulation():
    """
    Return a simulation with one replica, as elections take most of the time.

    It hardly resyncs, which would repair what the replica misses.
    """
    with Simulation(1, (0.0,), resync=3600) as simulation:
        yield simulation
