"""
The three promises under random faults of the cluster, the API server and two replicas.

All randomness comes from the printed seed, so a printed scenario can be run again.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reporter.kinds.default_kinds import DEFAULT_KINDS
from tests.simulation.latency_checker import MAX_DELAY, LatencyChecker
from tests.simulation.network import NetworkCondition
from tests.simulation.simulation import Simulation
from tests.simulation.troubles import TROUBLES


REPLICAS = st.sampled_from([0, 1])
DURATIONS = st.sampled_from([1.0, 5.0, 8.0, 20.0, 29.0, 31.0, 70.0, 200.0, 700.0])
WAITS = st.sampled_from(
    [0.05, 1.0, 5.0, 10.0, 14.0, 16.0, 25.0, 29.0, 31.0, 45.0, 59.0, 61.0, 95.0, 200.0, 700.0]
)
SOME = st.lists(st.sampled_from(DEFAULT_KINDS), min_size=1, max_size=3, unique=True).map(tuple)
TROUBLE = st.tuples(st.sampled_from(sorted(TROUBLES)))
ACTIONS = {
    "begin_trouble": TROUBLE,
    "begin_trouble ": TROUBLE,
    "end_trouble": TROUBLE,
    "end_all_troubles": st.just(()),
    "degrade_network": st.tuples(REPLICAS, st.sampled_from(list(NetworkCondition)), DURATIONS),
    "cut_watches": st.tuples(REPLICAS, SOME, DURATIONS),
    "forbid_watches": st.tuples(REPLICAS, SOME, DURATIONS),
    "partition": st.tuples(REPLICAS, DURATIONS),
    "delay_watches": st.tuples(REPLICAS, st.sampled_from([0.2, 2.0, 10.0])),
    "pause": st.tuples(REPLICAS, DURATIONS),
    "kill": st.tuples(REPLICAS, DURATIONS),
    "stop": st.tuples(REPLICAS, DURATIONS),
    "delete_an_event": st.just(()),
    "set_event_ttl": st.tuples(st.sampled_from([60.0, 400.0, 7200.0])),
    "silence": st.tuples(DURATIONS),
    "delete_the_lease": st.just(()),
    "steal_the_lease": st.just(()),
}
"""The actions of a scenario. Trouble is listed twice, as all the rest depends on it."""

STEPS = st.one_of([st.tuples(WAITS, st.just(k.strip()), each) for k, each in ACTIONS.items()])
SCENARIOS = st.lists(STEPS, min_size=5, max_size=25)


def run_scenario(simulation: Simulation, scenario) -> None:
    for pause, action, arguments in scenario:
        simulation.advance(pause)
        getattr(simulation, action)(*arguments)
    simulation.check_final_state()


BOTH = (0, 1)
TROUBLE_SAMPLE = ("router at zero", "model unready", "route deleted", "node under pressure")


@pytest.mark.parametrize("condition", NetworkCondition)
def test_every_event_arrives_once_in_any_network_condition(condition):
    with Simulation(1) as simulation:
        for name in TROUBLE_SAMPLE:
            for number in BOTH:
                simulation.degrade_network(number, condition, 50)
            simulation.begin_trouble(name)
            simulation.advance(150)
        for number in BOTH:
            simulation.degrade_network(number, condition, 100)
        simulation.end_all_troubles()
        simulation.check_final_state()


@pytest.mark.parametrize("condition", list(NetworkCondition)[1:])
def test_a_failed_write_arrives_within_a_minute_after_the_fault(simulation, condition):
    checker = LatencyChecker(simulation, max_delay=50 + 66 + MAX_DELAY)
    simulation.degrade_network(0, condition, 50)
    simulation.begin_trouble("router at zero")
    simulation.begin_trouble("filter deleted")
    simulation.advance(checker.max_delay)
    checker.check_announced()
    simulation.check_final_state()


@pytest.mark.parametrize("end", ["kill", "stop", "pause", "partition"])
def test_a_successor_continues_where_its_predecessor_ended(end):
    with Simulation(2) as simulation:
        simulation.begin_trouble("filter deleted")
        simulation.advance(800)
        for name in TROUBLE_SAMPLE:
            simulation.begin_trouble(name)
            simulation.advance(50)
            for number in BOTH:
                if simulation.replicas[number].elector.holds_lease():
                    getattr(simulation, end)(number, 40)
            simulation.advance(100)
        simulation.check_final_state()
        simulation.end_all_troubles()
        simulation.advance(20)
        for number in BOTH:
            if simulation.replicas[number].elector.holds_lease():
                getattr(simulation, end)(number, 40)
        simulation.check_final_state()


@pytest.mark.parametrize("end", ["kill", "stop", "partition"])
def test_what_is_silenced_is_announced_by_the_successor_when_the_silence_ends(end):
    with Simulation(3) as simulation:
        simulation.begin_trouble("router at zero")
        simulation.advance(100)
        simulation.silence(700)
        simulation.begin_trouble("model unready")
        simulation.advance(200)
        written = len(simulation.events.writes)
        for number in BOTH:
            if simulation.replicas[number].elector.holds_lease():
                getattr(simulation, end)(number, 40)
        simulation.advance(400)
        assert len(simulation.events.writes) == written
        simulation.advance(200)
        assert len(simulation.events.writes) >= written + 2
        simulation.check_final_state()


@pytest.mark.parametrize("seed", range(3))
def test_a_leader_paused_while_heartbeats_fell_due_does_not_write_when_it_resumes(seed):
    with Simulation(seed) as simulation:
        for name in TROUBLE_SAMPLE:
            simulation.begin_trouble(name)
        simulation.advance(260)
        (leader,) = [n for n in BOTH if simulation.replicas[n].elector.holds_lease()]
        simulation.pause(leader, 90)
        simulation.advance(300)
        assert not simulation.replicas[leader].elector.holds_lease()


def break_twice(simulation: Simulation, clear_for: float, late: float, *, led: float) -> set[str]:
    """
    Return the Events of an outage that returns *led* seconds before its leader dies; 0 is after it.
    """
    simulation.begin_trouble("scaler at zero")
    simulation.begin_trouble("router at zero")
    simulation.advance(100)
    (leader,) = [n for n in BOTH if simulation.replicas[n].elector.holds_lease()]
    simulation.delay_watches(1 - leader, late)
    simulation.end_trouble("router at zero")
    simulation.advance(clear_for)
    if led:
        simulation.begin_trouble("router at zero")
        simulation.advance(led)
    simulation.kill(leader, 300)
    simulation.advance(1)
    simulation.begin_trouble("router at zero")
    simulation.check_final_state()
    return {w.name for w in simulation.events.writes if "BBR" in w.record.key.reason}


@pytest.mark.parametrize(("clear_for", "events"), [(20, 1), (100, 2)])
def test_trouble_that_returns_between_two_leaders_is_new_if_it_had_settled(clear_for, events):
    with Simulation(12) as simulation:
        assert len(break_twice(simulation, clear_for, 0.2, led=0)) == events


@pytest.mark.parametrize("seed", range(4))
def test_trouble_that_returns_is_not_new_for_a_replica_that_sees_it_late(seed):
    with Simulation(seed) as simulation:
        assert len(break_twice(simulation, 26, 10.0, led=0)) == 1


def test_trouble_that_was_announced_anew_is_not_announced_a_third_time_by_the_next_leader():
    with Simulation(12) as simulation:
        assert len(break_twice(simulation, 100, 0.2, led=20)) == 2


@settings(max_examples=settings().max_examples // 5)
@given(seed=st.integers(0, 2**32), skew=st.sampled_from([0.0, 0.9, -0.9]), scenario=SCENARIOS)
def test_the_promises_are_kept_whatever_happens(seed, skew, scenario):
    with Simulation(seed, (0.0, skew)) as simulation:
        run_scenario(simulation, scenario)
