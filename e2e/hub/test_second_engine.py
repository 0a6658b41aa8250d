"""
The story of one cluster with VictoriaMetrics as the engine: agents send to it, and the hub asks it.
"""

import pytest

from e2e.hub.parts import engines
from e2e.hub.parts.fleet import EAST, UNKNOWN_WITHIN, running_fleet


pytestmark = [pytest.mark.controlplane, pytest.mark.slow, pytest.mark.second_engine]


def test_a_cluster_is_current_until_its_agent_is_killed_and_again_afterwards() -> None:
    with running_fleet(EAST, make_engine=engines.central_victoria_metrics) as fleet:
        fleet.until(EAST, "Current", within=UNKNOWN_WITHIN)
        fleet.east.agent.kill()
        fleet.until(EAST, "Unknown Silent", within=UNKNOWN_WITHIN)
        fleet.engine.restart()
        fleet.east.agent.start()
        fleet.until(EAST, "Current", within=UNKNOWN_WITHIN)
