"""A hub, a real Prometheus, an agent and one cluster: the short form of the tests of a fleet."""

import pytest

from e2e.hub.parts.fleet import EAST, UNKNOWN_WITHIN, running_fleet


pytestmark = pytest.mark.controlplane


def test_a_cluster_is_current_until_its_agent_is_killed_and_again_afterwards() -> None:
    with running_fleet(EAST) as fleet:
        fleet.until(EAST, "Current", within=UNKNOWN_WITHIN)
        asked = fleet.ask("--exit-code")
        assert asked.returncode == 0, asked.stderr
        assert asked.stdout.splitlines()[1].split()[:4] == [EAST, "Ready", "2/2", "2/2"]
        fleet.east.agent.kill()
        fleet.until(EAST, "Unknown Silent", within=UNKNOWN_WITHIN)
        assert fleet.ask("--exit-code").returncode == 5
        fleet.east.agent.start()
        fleet.until(EAST, "Current", within=UNKNOWN_WITHIN)
