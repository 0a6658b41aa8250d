"""
Whatever happens to the cluster, the API server and two replicas: the three promises are kept.

All chance is in the printed seed, so a printed story is played again by itself.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reporter.model.kinds import KINDS
from tests.simulation.network import Weather
from tests.simulation.prompt import LATE, Prompt
from tests.simulation.simulation import Simulation
from tests.simulation.troubles import TROUBLES


REPLICAS = st.sampled_from([0, 1])
SPELLS = st.sampled_from([1.0, 5.0, 8.0, 20.0, 29.0, 31.0, 70.0, 200.0, 700.0])
PAUSES = st.sampled_from(
    [0.05, 1.0, 5.0, 10.0, 14.0, 16.0, 25.0, 29.0, 31.0, 45.0, 59.0, 61.0, 95.0, 200.0, 700.0]
)
SOME = st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True).map(tuple)
TROUBLE = st.tuples(st.sampled_from(sorted(TROUBLES)))
HAPPENINGS = {
    "begin": TROUBLE,
    "begin ": TROUBLE,
    "end": TROUBLE,
    "end_all": st.just(()),
    "storm": st.tuples(REPLICAS, st.sampled_from(list(Weather)), SPELLS),
    "cut": st.tuples(REPLICAS, SOME, SPELLS),
    "forbid": st.tuples(REPLICAS, SOME, SPELLS),
    "part": st.tuples(REPLICAS, SPELLS),
    "be_late": st.tuples(REPLICAS, st.sampled_from([0.2, 2.0, 10.0])),
    "pause": st.tuples(REPLICAS, SPELLS),
    "kill": st.tuples(REPLICAS, SPELLS),
    "stop": st.tuples(REPLICAS, SPELLS),
    "delete_an_event": st.just(()),
    "let_events_live": st.tuples(st.sampled_from([60.0, 400.0, 7200.0])),
    "delete_the_lease": st.just(()),
    "steal_the_lease": st.just(()),
}
"""
Trouble twice, as it is what all the rest is about.
"""

STEPS = st.one_of(
    [st.tuples(PAUSES, st.just(k.strip()), words) for k, words in HAPPENINGS.items()]
)
STORIES = st.lists(STEPS, min_size=5, max_size=25)


def play(simulation: Simulation, story) -> None:
    for pause, what, words in story:
        simulation.after(pause)
        getattr(simulation, what)(*words)
    simulation.rest()


BOTH = (0, 1)
SICK = ("router at zero", "model unready", "route deleted", "node under pressure")


@pytest.mark.parametrize("weather", Weather)
def test_what_is_said_in_any_weather_arrives_once(weather):
    with Simulation(1) as simulation:
        for name in SICK:
            for number in BOTH:
                simulation.storm(number, weather, 50)
            simulation.begin(name)
            simulation.after(150)
        for number in BOTH:
            simulation.storm(number, weather, 100)
        simulation.end_all()
        simulation.rest()


@pytest.mark.parametrize("weather", list(Weather)[1:])
def test_what_could_not_be_written_arrives_within_a_minute_after_the_weather(simulation, weather):
    prompt = Prompt(simulation, late=50 + 66 + LATE)
    simulation.storm(0, weather, 50)
    simulation.begin("router at zero")
    simulation.begin("filter deleted")
    simulation.after(prompt.late)
    prompt.is_told()
    simulation.rest()


@pytest.mark.parametrize("end", ["kill", "stop", "pause", "part"])
def test_a_successor_goes_on_where_its_predecessor_ended(end):
    with Simulation(2) as simulation:
        simulation.begin("filter deleted")
        simulation.after(800)
        for name in SICK:
            simulation.begin(name)
            simulation.after(50)
            for number in BOTH:
                if simulation.replicas[number].elector.holds():
                    getattr(simulation, end)(number, 40)
            simulation.after(100)
        simulation.rest()
        simulation.end_all()
        simulation.after(20)
        for number in BOTH:
            if simulation.replicas[number].elector.holds():
                getattr(simulation, end)(number, 40)
        simulation.rest()


@pytest.mark.parametrize("seed", range(3))
def test_who_was_paused_while_heartbeats_fell_due_does_not_write_when_it_wakes(seed):
    with Simulation(seed) as simulation:
        for name in SICK:
            simulation.begin(name)
        simulation.after(260)
        (leader,) = [n for n in BOTH if simulation.replicas[n].elector.holds()]
        simulation.pause(leader, 90)
        simulation.after(300)
        assert not simulation.replicas[leader].elector.holds()


def break_twice(simulation: Simulation, well: float, late: float, *, led: float) -> set[str]:
    """
    The Events of an outage that comes back, *led* seconds before its leader dies, or after that.
    """
    simulation.begin("scaler at zero")
    simulation.begin("router at zero")
    simulation.after(100)
    (leader,) = [n for n in BOTH if simulation.replicas[n].elector.holds()]
    simulation.be_late(1 - leader, late)
    simulation.end("router at zero")
    simulation.after(well)
    if led:
        simulation.begin("router at zero")
        simulation.after(led)
    simulation.kill(leader, 300)
    simulation.after(1)
    simulation.begin("router at zero")
    simulation.rest()
    return {w.name for w in simulation.events.writes if "BBR" in w.record.key.reason}


@pytest.mark.parametrize(("well", "events"), [(20, 1), (100, 2)])
def test_trouble_that_comes_back_between_two_leaders_is_new_if_it_had_settled(well, events):
    with Simulation(12) as simulation:
        assert len(break_twice(simulation, well, 0.2, led=0)) == events


@pytest.mark.parametrize("seed", range(4))
def test_trouble_that_comes_back_is_not_new_for_who_sees_it_late(seed):
    with Simulation(seed) as simulation:
        assert len(break_twice(simulation, 26, 10.0, led=0)) == 1


def test_trouble_that_was_told_anew_is_not_told_a_third_time_by_the_next_leader():
    with Simulation(12) as simulation:
        assert len(break_twice(simulation, 100, 0.2, led=20)) == 2


@settings(max_examples=settings().max_examples // 5)
@given(seed=st.integers(0, 2**32), skew=st.sampled_from([0.0, 0.9, -0.9]), story=STORIES)
def test_the_promises_are_kept_whatever_happens(seed, skew, story):
    with Simulation(seed, (0.0, skew)) as simulation:
        play(simulation, story)
