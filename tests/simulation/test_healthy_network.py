"""The times of announcements while the network is healthy."""

import pytest

from tests.simulation.final_state_checker import FinalStateChecker
from tests.simulation.latency_checker import MAX_DELAY, LatencyChecker
from tests.simulation.rules import GRACE, SETTLE
from tests.simulation.simulation import Simulation
from tests.simulation.troubles import TROUBLES


BOTH = (0, 1)


REAL = sorted(name for name, each in TROUBLES.items() if not each.normal)


@pytest.mark.parametrize("trouble", REAL)
def test_trouble_is_announced_repeated_and_followed_by_ready_in_time(simulation, trouble):
    checker = LatencyChecker(simulation)
    simulation.begin_trouble(trouble)
    simulation.advance(checker.all_due_at + checker.max_delay - simulation.clock.now)
    checker.check_announced()
    simulation.advance(1000)
    checker.check_heartbeats()
    simulation.end_trouble(trouble)
    ended = simulation.clock.now
    simulation.advance(700)
    checker.check_ready_written(ended)


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
def test_new_content_is_written_within_a_minute_and_suppressed_findings_after_two_settles(
    simulation, first, second
):
    began_at = simulation.clock.now
    simulation.begin_trouble(first)
    simulation.advance(500)
    checker = LatencyChecker(simulation)
    simulation.begin_trouble(second)
    simulation.advance(max(checker.all_due_at, checker.began_at) + 64 - simulation.clock.now)
    FinalStateChecker(simulation.truth, simulation.delivery_checker, began_at, slack=63).check()
    checker.check_outranked()
    simulation.end_trouble(first)
    simulation.advance(2 * SETTLE + MAX_DELAY)
    checker.check_announced_now()


@pytest.mark.parametrize("first", ["router at zero", "router crashes"])
def test_an_outranked_finding_is_announced_when_the_other_was_clear_for_the_settle(
    simulation, first
):
    checker = LatencyChecker(simulation)
    simulation.begin_trouble(first)
    simulation.advance(60)
    simulation.begin_trouble("scaler at zero")
    simulation.advance(100)
    simulation.end_trouble(first)
    simulation.advance(SETTLE + MAX_DELAY)
    checker.check_announced_now()


def test_an_event_is_rewritten_once_a_minute_at_most(simulation):
    for trouble in ("auth at zero", "router at zero", "scaler at zero"):
        simulation.begin_trouble(trouble)
        simulation.advance(10)
    simulation.advance(60)
    writes = [w for w in simulation.events.writes if "GatewayAuth" in w.record.key.reason]
    first, second, third = [w.at for w in writes]
    assert second - first < 20
    assert 59 < third - second < 61 + MAX_DELAY


def test_a_suppression_lifts_when_its_source_is_only_degraded(simulation):
    simulation.begin_trouble("data plane out")
    simulation.begin_trouble("route deleted")
    simulation.advance(200)
    simulation.begin_trouble("data plane half down")
    degraded_at = simulation.clock.now
    simulation.end_trouble("data plane out")
    simulation.advance(SETTLE + GRACE.total_seconds() + MAX_DELAY)
    written = [w.at for w in simulation.events.writes if "RouteNotReady" in w.record.key.reason]
    assert written
    assert written[0] > degraded_at


def test_a_ready_waits_for_outranked_findings_to_settle(simulation):
    checker = LatencyChecker(simulation)
    simulation.begin_trouble("router at zero")
    simulation.begin_trouble("scaler at zero")
    simulation.advance(100)
    simulation.end_trouble("router at zero")
    simulation.advance(25)
    simulation.end_trouble("scaler at zero")
    ended = simulation.clock.now
    simulation.advance(100)
    checker.check_ready_written(ended)


def test_trouble_that_ended_during_a_restart_gets_its_ready_when_the_new_process_saw_it_settle(
    simulation,
):
    # What was announced is known once the next leader reads the Events, after the Lease of the killed one.
    checker = LatencyChecker(simulation, max_delay=MAX_DELAY + 5 + 16)
    simulation.begin_trouble("router at zero")
    simulation.advance(100)
    simulation.kill(0, 5)
    simulation.end_trouble("router at zero")
    ended = simulation.clock.now
    simulation.advance(100)
    checker.check_ready_written(ended)


@pytest.mark.parametrize("end", ["kill", "stop"])
@pytest.mark.parametrize("trouble", ["model unready", "route deleted", "picker unready"])
def test_a_hold_goes_on_under_the_next_leader(trouble, end):
    with Simulation(6) as simulation:
        checker = LatencyChecker(simulation, max_delay=MAX_DELAY + (16 if end == "kill" else 2))
        simulation.begin_trouble(trouble)
        due = checker.all_due_at
        simulation.advance(due - 5 - simulation.clock.now)
        (leader,) = [n for n in BOTH if simulation.replicas[n].elector.holds_lease()]
        getattr(simulation, end)(leader, 100)
        simulation.advance(due + checker.max_delay - simulation.clock.now)
        checker.check_announced()
