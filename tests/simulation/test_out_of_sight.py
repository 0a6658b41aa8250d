"""
What cannot be seen, or was not looked at by its writer yet, is neither guessed nor missed.
"""

import pytest

from reporter.model.kinds import DEPLOYMENTS, GATEWAYS, KINDS, NAMESPACES
from reporter.model.observations import Unwatched
from reporter.stages.judgement import Judgement
from reporter.stages.snapshot import BLIND_AFTER
from tests.builders import NOON, a_store
from tests.simulation.replica import COURT
from tests.simulation.simulation import Simulation


SICK = ("router at zero", "model unready", "route deleted", "node under pressure")


def hide(simulation: Simulation, name: str) -> None:
    """
    What the laws are about must be Unknown by the probes themselves.
    """
    before = len(simulation.truth.unknown)
    simulation.begin(name)
    assert len(simulation.truth.unknown) > before


@pytest.mark.parametrize("spell", [20.0, 100.0])
@pytest.mark.parametrize("how", ["cut", "forbid"])
def test_what_happens_out_of_sight_is_neither_guessed_nor_missed(simulation, how, spell):
    for name in SICK:
        simulation.begin(name)
    simulation.after(100)
    getattr(simulation, how)(0, KINDS, spell)
    simulation.after(spell / 2)
    for name in ("router at zero", "route deleted"):
        simulation.end(name)
    for name in ("istiod deleted", "filter deleted", "pools not served"):
        simulation.begin(name)
    simulation.rest()
    simulation.end_all()
    simulation.rest()


@pytest.mark.parametrize("spell", [29.0, 61.0, 400.0])
@pytest.mark.parametrize("how", ["cut", "forbid"])
def test_what_lasts_out_of_sight_is_the_same_when_it_is_seen_again(simulation, how, spell):
    for name in SICK:
        simulation.begin(name)
    simulation.after(100)
    getattr(simulation, how)(0, KINDS, spell)
    simulation.after(spell + 300)
    simulation.rest()


def test_what_was_never_seen_is_not_missing(simulation):
    kinds = (NAMESPACES, DEPLOYMENTS, GATEWAYS)
    simulation.begin("router at zero")
    simulation.after(100)
    simulation.forbid(0, kinds, 200)
    simulation.kill(0, 5)
    simulation.after(200)
    simulation.rest()


@pytest.mark.parametrize("spell", [20.0, 400.0])
@pytest.mark.parametrize("held", [10.0, 100.0])
@pytest.mark.parametrize(
    "trouble", ["router half down", "router crashes", "istiod out", "picker unready"]
)
def test_what_its_writer_has_not_looked_at_stays_as_it_was(simulation, trouble, held, spell):
    unseen = f"{trouble.split(' ')[0]} is not looked at"
    simulation.begin(trouble)
    simulation.after(held)
    hide(simulation, unseen)
    simulation.after(spell)
    simulation.end(unseen)
    simulation.after(200)
    simulation.rest()


def test_nothing_is_ready_while_a_part_of_it_is_not_looked_at(simulation):
    simulation.begin("router at zero")
    simulation.after(100)
    hide(simulation, "istiod is not looked at")
    simulation.after(10)
    simulation.end("router at zero")
    simulation.after(200)
    simulation.end("istiod is not looked at")
    simulation.rest()


@pytest.mark.parametrize("clear", [0.0, 10.0])
def test_what_was_out_just_before_it_was_not_looked_at_goes_on_suppressing(simulation, clear):
    simulation.begin("istiod out")
    simulation.begin("class misspelt")
    simulation.after(100)
    if clear:
        simulation.end("istiod out")
        simulation.after(clear)
    simulation.begin("istiod is not looked at")
    simulation.after(200)
    simulation.end("istiod is not looked at")
    simulation.rest()


def test_the_moment_at_which_a_kind_becomes_blind_is_none_once_it_is_over():
    store = a_store()
    store.sight(DEPLOYMENTS, Unwatched(NOON, "gone"))
    blind, view = NOON + BLIND_AFTER, store.view()
    assert COURT.wakes(Judgement(), view, now=NOON) == blind
    assert COURT.wakes(Judgement(), view, now=blind) is None
