"""Kinds that cannot be watched, and objects whose writer lags, are neither guessed nor missed."""

import pytest

from reporter.evaluation.evaluation import Evaluation
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.gateway_api import GATEWAYS
from reporter.model.observations import WATCH_LOSS_TOLERANCE, WatchLost
from tests.simulation.replica import EVALUATOR
from tests.simulation.simulation import Simulation
from tests.support.builders import NOON, a_store


TROUBLE_SAMPLE = ("router at zero", "model unready", "route deleted", "node under pressure")


def hide(simulation: Simulation, name: str) -> None:
    """Begin a trouble that makes keys Unknown, and check that it does."""
    before = len(simulation.truth.unknown)
    simulation.begin_trouble(name)
    assert len(simulation.truth.unknown) > before


@pytest.mark.parametrize("spell", [20.0, 100.0])
@pytest.mark.parametrize("how", ["cut_watches", "forbid_watches"])
def test_changes_without_a_watch_are_neither_guessed_nor_missed(simulation, how, spell):
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
def test_trouble_that_lasts_without_a_watch_is_the_same_afterwards(simulation, how, spell):
    for name in TROUBLE_SAMPLE:
        simulation.begin_trouble(name)
    simulation.advance(100)
    getattr(simulation, how)(0, DEFAULT_KINDS, spell)
    simulation.advance(spell + 300)
    simulation.check_final_state()


def test_objects_that_were_never_listed_are_not_missing(simulation):
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
def test_a_key_whose_writer_lags_stays_as_it_was(simulation, trouble, held, spell):
    unseen = f"{trouble.split(' ')[0]} is not looked at"
    simulation.begin_trouble(trouble)
    simulation.advance(held)
    hide(simulation, unseen)
    simulation.advance(spell)
    simulation.end_trouble(unseen)
    simulation.advance(200)
    simulation.check_final_state()


def test_nothing_is_ready_while_a_writer_lags(simulation):
    simulation.begin_trouble("router at zero")
    simulation.advance(100)
    hide(simulation, "istiod is not looked at")
    simulation.advance(10)
    simulation.end_trouble("router at zero")
    simulation.advance(200)
    simulation.end_trouble("istiod is not looked at")
    simulation.check_final_state()


@pytest.mark.parametrize("clear", [0.0, 10.0])
def test_a_source_that_was_out_just_before_its_writer_lags_goes_on_suppressing(simulation, clear):
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


def test_the_moment_at_which_a_kind_becomes_unknown_is_no_deadline_once_it_is_over():
    store = a_store()
    store.set_watch_state(DEPLOYMENTS, WatchLost(NOON, "gone"))
    unknown_from, snapshot = NOON + WATCH_LOSS_TOLERANCE, store.snapshot()
    assert EVALUATOR.next_deadline(Evaluation(), snapshot, now=NOON) == unknown_from
    assert EVALUATOR.next_deadline(Evaluation(), snapshot, now=unknown_from) is None
