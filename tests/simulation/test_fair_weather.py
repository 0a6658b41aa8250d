"""
When nothing goes wrong between the cluster and the reporter, every word comes at its second.
"""

import logging

import pytest

from tests.simulation.prompt import LATE, Prompt
from tests.simulation.rest import Rest
from tests.simulation.rules import SETTLE
from tests.simulation.simulation import Simulation
from tests.simulation.troubles import TROUBLES


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL)


BOTH = (0, 1)
ALONE = (0.0,)
"""
The clock of one replica: elections take most of the time, and are the matter of others.
"""

REAL = sorted(name for name, each in TROUBLES.items() if not each.normal)


@pytest.mark.parametrize("trouble", REAL)
def test_trouble_is_told_repeated_and_taken_back_at_its_seconds(trouble):
    with Simulation(4, ALONE) as simulation:
        prompt = Prompt(simulation)
        simulation.begin(trouble)
        simulation.after(prompt.all_due + prompt.late - simulation.agenda.now)
        prompt.is_told()
        simulation.after(1000)
        prompt.goes_on()
        simulation.end(trouble)
        ended = simulation.agenda.now
        simulation.after(700)
        prompt.is_taken_back(ended)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("router at zero", "scaler at zero"),
        ("scaler at zero", "router at zero"),
        ("kaito out", "model unready"),
        ("istiod out", "class misspelt"),
        ("route deleted", "picker at zero"),
        ("filter deleted", "data plane at zero"),
        ("route deleted", "gateway not programmed"),
    ],
)
def test_new_content_is_written_within_a_minute_and_what_a_row_hid_after_two_settles(
    first, second
):
    with Simulation(5, ALONE) as simulation:
        simulation.begin(first)
        simulation.after(500)
        prompt = Prompt(simulation)
        simulation.begin(second)
        simulation.after(prompt.all_due + 64 - prompt.begin)
        Rest(simulation.truth, simulation.arriving, prompt.begin, slack=63).holds()
        simulation.end(first)
        simulation.after(2 * SETTLE + LATE)
        prompt.is_told_by_now()


@pytest.mark.parametrize("end", ["kill", "stop"])
@pytest.mark.parametrize("trouble", ["model unready", "route deleted", "picker unready"])
def test_a_hold_goes_on_under_the_next_leader(trouble, end):
    with Simulation(6) as simulation:
        prompt = Prompt(simulation, late=LATE + (16 if end == "kill" else 2))
        simulation.begin(trouble)
        due = prompt.all_due
        simulation.after(due - 5 - simulation.agenda.now)
        (leader,) = [n for n in BOTH if simulation.replicas[n].elector.holds()]
        getattr(simulation, end)(leader, 100)
        simulation.after(due + prompt.late - simulation.agenda.now)
        prompt.is_told()
