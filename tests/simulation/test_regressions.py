"""Scenarios that once broke a promise or a law, each shortened to what it needs."""

import pytest

from reporter.kinds.gateway_api import HTTP_ROUTES
from reporter.kinds.kaito import WORKSPACES
from tests.simulation.network import NetworkCondition
from tests.simulation.simulation import Simulation
from tests.simulation.test_simulation import run_scenario


FOUND = {
    "an upstream comes back unready after its effect, and a new process leads": (
        862,
        [
            (0.0125, "begin_trouble", ("istiod deleted",)),
            (1.025, "begin_trouble", ("gateway not programmed",)),
            (0.00625, "kill", (1, 5.0)),
            (0.0125, "begin_trouble", ("istiod out",)),
            (0.00625, "steal_the_lease", ()),
        ],
    ),
    "what was announced goes on when its upstream goes out, and a new process leads": (
        587,
        [
            (0.05, "begin_trouble", ("route deleted",)),
            (731.0, "silence", (700.0,)),
            (0.05, "begin_trouble", ("gateway not programmed",)),
            (0.05, "kill", (1, 31.0)),
            (0.05, "begin_trouble", ("model crashes",)),
            (0.05, "steal_the_lease", ()),
        ],
    ),
    "the connection is lost before kinds were listed for the first time": (
        318,
        [
            (0.05, "forbid_watches", (0, (WORKSPACES, HTTP_ROUTES), 700.0)),
            (0.05, "stop", (0, 5.0)),
            (0.05, "stop", (1, 70.0)),
            (10.0, "partition", (0, 8.0)),
        ],
    ),
    "trouble begins in the second in which a Ready is due": (
        893,
        [
            (0.05, "begin_trouble", ("auth at zero",)),
            (1.0, "begin_trouble", ("gateway not programmed",)),
            (10.0, "end_trouble", ("auth at zero",)),
            (30.0, "begin_trouble", ("istiod deleted",)),
        ],
    ),
    "the last trouble of a model that crashed is no crash": (
        726,
        [
            (0.05, "begin_trouble", ("model unready",)),
            (0.05, "begin_trouble", ("model crashes",)),
            (295.0, "end_trouble", ("model crashes",)),
            (0.05, "end_all_troubles", ()),
            (61.0, "begin_trouble", ("model unready",)),
        ],
    ),
    "a namespace gets its label in the moment in which a picker of it is repaired": (
        365,
        [
            (1053.05, "begin_trouble", ("picker at zero",)),
            (1.0, "begin_trouble", ("namespace not labelled",)),
            (25.0, "end_all_troubles", ()),
        ],
    ),
    "a model that was uninstalled is made anew by hand, and another process leads": (
        743,
        [
            (0.05, "begin_trouble", ("model deleted",)),
            (0.05, "kill", (0, 31.0)),
            (0.05, "begin_trouble", ("second replica starts",)),
            (809.05, "degrade_network", (1, NetworkCondition.UNREACHABLE, 70.0)),
            (795.0, "begin_trouble", ("model at zero",)),
        ],
    ),
    "a model is made anew in the moment in which it is deleted": (
        1,
        [
            (0.05, "begin_trouble", ("other gateway not programmed",)),
            (10.0, "begin_trouble", ("model deleted",)),
            (0.05, "begin_trouble", ("scaling misspelt",)),
            (0.05, "steal_the_lease", ()),
        ],
    ),
    "the first model that a process sees comes to a picker that becomes ready": (
        8,
        [
            (0.05, "kill", (1, 70.0)),
            (0.05, "begin_trouble", ("model deleted",)),
            (10.0, "begin_trouble", ("picker unready",)),
            (0.05, "pause", (0, 700.0)),
            (1118.0, "end_all_troubles", ()),
        ],
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_scenario_that_was_found_keeps_the_promises(name):
    seed, scenario = FOUND[name]
    with Simulation(seed) as simulation:
        run_scenario(simulation, scenario)
