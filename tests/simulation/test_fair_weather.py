"""
When nothing goes wrong between the cluster and the reporter, every word comes at its second.
"""

import pytest

from tests.simulation.prompt import LATE, Prompt
from tests.simulation.rest import Rest
from tests.simulation.rules import GRACE, SETTLE
from tests.simulation.simulation import Simulation
from tests.simulation.troubles import TROUBLES


BOTH = (0, 1)


REAL = sorted(name for name, each in TROUBLES.items() if not each.normal)


@pytest.mark.parametrize("trouble", REAL)
def test_trouble_is_told_repeated_and_taken_back_at_its_seconds(simulation, trouble):
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
        ("data plane half down", "route deleted"),
        ("other gateway not programmed", "route deleted"),
    ],
)
def test_new_content_is_written_within_a_minute_and_what_a_row_hid_after_two_settles(
    simulation, first, second
):
    begun = simulation.agenda.now
    simulation.begin(first)
    simulation.after(500)
    prompt = Prompt(simulation)
    simulation.begin(second)
    simulation.after(max(prompt.all_due, prompt.begin) + 64 - simulation.agenda.now)
    Rest(simulation.truth, simulation.arriving, begun, slack=63).holds()
    prompt.is_outranked()
    simulation.end(first)
    simulation.after(2 * SETTLE + LATE)
    prompt.is_told_by_now()


@pytest.mark.parametrize("first", ["router at zero", "router crashes"])
def test_what_was_outranked_is_told_when_the_other_was_well_for_the_settle(simulation, first):
    prompt = Prompt(simulation)
    simulation.begin(first)
    simulation.after(60)
    simulation.begin("scaler at zero")
    simulation.after(100)
    simulation.end(first)
    simulation.after(SETTLE + LATE)
    prompt.is_told_by_now()


def test_an_event_is_rewritten_once_a_minute_at_most(simulation):
    for trouble in ("auth at zero", "router at zero", "scaler at zero"):
        simulation.begin(trouble)
        simulation.after(10)
    simulation.after(60)
    said = [w for w in simulation.events.writes if "GatewayAuth" in w.record.key.reason]
    first, second, third = [w.at for w in said]
    assert second - first < 20
    assert 59 < third - second < 61 + LATE


def test_a_row_lifts_when_its_source_is_only_degraded(simulation):
    simulation.begin("data plane out")
    simulation.begin("route deleted")
    simulation.after(200)
    prompt = Prompt(simulation)
    simulation.begin("data plane half down")
    simulation.end("data plane out")
    simulation.after(SETTLE + GRACE.total_seconds() + LATE)
    prompt.is_told_by_now()


def test_a_ready_waits_for_what_was_never_told_to_settle(simulation):
    prompt = Prompt(simulation)
    simulation.begin("router at zero")
    simulation.begin("scaler at zero")
    simulation.after(100)
    simulation.end("router at zero")
    simulation.after(25)
    simulation.end("scaler at zero")
    ended = simulation.agenda.now
    simulation.after(100)
    prompt.is_taken_back(ended)


def test_what_ended_while_nobody_looked_is_taken_back_when_a_process_has_seen_it_settle(
    simulation,
):
    prompt = Prompt(simulation, late=LATE + 5)
    simulation.begin("router at zero")
    simulation.after(100)
    simulation.kill(0, 5)
    simulation.end("router at zero")
    ended = simulation.agenda.now
    simulation.after(100)
    prompt.is_taken_back(ended)


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
