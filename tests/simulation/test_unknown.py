"""
What cannot be seen, or was not looked at by its writer yet, is neither guessed nor missed.
"""

import pytest

from reporter.model.kinds.resource_kinds import DEFAULT_KINDS, DEPLOYMENTS, GATEWAYS, NAMESPACES
from reporter.model.observations import WATCH_LOSS_TOLERANCE, WatchLost
from reporter.stages.evaluation.evaluation import Evaluation
from tests.simulation.replica import EVALUATOR
from tests.simulation.simulation import Simulation
from tests.support.builders import NOON, a_store


TROUBLE_SAMPLE = ("router at zero", "model unready", "route deleted", "node under pressure")


def hide(simulation: Simulation, name: str) -> None:
    """
    What the laws are about must be Unknown by the probes themselves.
    """
    before = len(simulation.truth.unknown)
    simulation.begin_trouble(name)
    assert len(simulation.truth.unknown) > before


@pytest.mark.parametrize("spell", [20.0, 100.0])
@pytest.mark.parametrize("how", ["cut_watches", "forbid_watches"])
def test_what_happens_out_of_sight_is_neither_guessed_nor_missed(simulation, how, spell):
    for name in TROUBLE_SAMPLE:
        simulation.begin_trouble(name)
    simulation.advance(100)
    getattr(simulation, how)(0, DEFAULT_KINDS, spell)
    simulation.advance(spell / 2)
    for name in ("router at zero", "route deleted"):
        simulation.end_trouble(name)
    for name in ("istiod deleted", "filter deleted", "pools not served"):
        simulation.begin_trouble(name)
    simulation.check_final_state()
    simulation.end_all_troubles()
    simulation.check_final_state()


@pytest.mark.parametrize("spell", [29.0, 61.0, 400.0])
@pytest.mark.parametrize("how", ["cut_watches", "forbid_watches"])
def test_what_lasts_out_of_sight_is_the_same_when_it_is_seen_again(simulation, how, spell):
    for name in TROUBLE_SAMPLE:
        simulation.begin_trouble(name)
    simulation.advance(100)
    getattr(simulation, how)(0, DEFAULT_KINDS, spell)
    simulation.advance(spell + 300)
    simulation.check_final_state()


def test_what_was_never_seen_is_not_missing(simulation):
    kinds = (NAMESPACES, DEPLOYMENTS, GATEWAYS)
    simulation.begin_trouble("router at zero")
    simulation.advance(100)
    simulation.forbid_watches(0, kinds, 200)
    simulation.kill(0, 5)
    simulation.advance(200)
    simulation.check_final_state()


@pytest.mark.parametrize("spell", [20.0, 400.0])
@pytest.mark.parametrize("held", [10.0, 100.0])
@pytest.mark.parametrize(
    "trouble", ["router half down", "router crashes", "istiod out", "picker unready"]
)
def test_what_its_writer_has_not_looked_at_stays_as_it_was(simulation, trouble, held, spell):
    unseen = f"{trouble.split(' ')[0]} is not looked at"
    simulation.begin_trouble(trouble)
    simulation.advance(held)
    hide(simulation, unseen)
    simulation.advance(spell)
    simulation.end_trouble(unseen)
    simulation.advance(200)
    simulation.check_final_state()


def test_nothing_is_ready_while_a_part_of_it_is_not_looked_at(simulation):
    simulation.begin_trouble("router at zero")
    simulation.advance(100)
    hide(simulation, "istiod is not looked at")
    simulation.advance(10)
    simulation.end_trouble("router at zero")
    simulation.advance(200)
    simulation.end_trouble("istiod is not looked at")
    simulation.check_final_state()


@pytest.mark.parametrize("clear", [0.0, 10.0])
def test_what_was_out_just_before_it_was_not_looked_at_goes_on_suppressing(simulation, clear):
    simulation.begin_trouble("istiod out")
    simulation.begin_trouble("class misspelt")
    simulation.advance(100)
    if clear:
        simulation.end_trouble("istiod out")
        simulation.advance(clear)
    simulation.begin_trouble("istiod is not looked at")
    simulation.advance(200)
    simulation.end_trouble("istiod is not looked at")
    simulation.check_final_state()


def test_the_moment_at_which_a_kind_becomes_blind_is_none_once_it_is_over():
    store = a_store()
    store.set_watch_state(DEPLOYMENTS, WatchLost(NOON, "gone"))
    blind, view = NOON + WATCH_LOSS_TOLERANCE, store.snapshot()
    assert EVALUATOR.next_deadline(Evaluation(), view, now=NOON) == blind
    assert EVALUATOR.next_deadline(Evaluation(), view, now=blind) is None
