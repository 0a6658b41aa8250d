import logging

import pytest

from tests.simulation.simulation import Simulation


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL)


@pytest.fixture
def simulation():
    """
    One replica, as elections take most of the time, and no resync that mends what it misses.
    """
    with Simulation(1, (0.0,), resync=3600) as simulation:
        yield simulation
