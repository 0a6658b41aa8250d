"""
A restart is no event: stop the process anywhere, start a new one on the same cluster with the Events
that are there, and nothing is written that the old one would not have written.
"""

from collections.abc import Iterable
from random import Random

import pytest

from tests.cases.restarted_replay import (
    OldProcess,
    broken_law,
    can_be_mixed,
    can_happen_together,
    mixed,
)
from tests.support.cases import read_cases


CASES = read_cases()
MIXABLE = [name for name, case in CASES.items() if can_be_mixed(case)]
DRAWN = dict.fromkeys(tuple(Random(number).sample(MIXABLE, 2)) for number in range(200))

RESTARTS = "whether a run that ended had served, and when earlier ones ended, is not in an Event"
NODE_ERROR = "the error of a node is no longer stated, and no Event tells of it yet"
MISSING = "that an object which does not exist was deleted is in no Event yet"
UNSEEN = {
    "engine-request-errors": "an Event that is over counts until the pages reach back as far as its window",
    "engine-route-out": "a stall is Unknown until the pages reach back as far as its window",
    "model-node-refused-after-serving": NODE_ERROR,
    "model-slow-crash-loop": RESTARTS,
    "model-gateway-deleted+model-routing-deleted": MISSING,
    "model-pod-restarts-unseen+restart-while-istiod-is-deleted": MISSING,
    "restart-while-istiod-is-deleted+harness-certificate": MISSING,
}
"""
Cases in which the law does not hold, because nothing tells a new process what the old one had observed.
"""

UNSEEN_PAIRS = [tuple(name.split("+")) for name in UNSEEN if "+" in name]
PAIRS = [
    pair
    for pair in dict.fromkeys([*DRAWN, *UNSEEN_PAIRS])
    if can_happen_together(*map(CASES.get, pair)) and UNSEEN.keys().isdisjoint(pair)
]
"""
Those that are drawn, which each new case changes, and those in which the law does not hold.

A case in which it does not hold alone is in none: it breaks the law there for the same reason, or, at the
moments that are drawn, does not.
"""
PAIR_NAMES = ["+".join(pair) for pair in PAIRS]

ONCE_BROKEN = frozenset(
    {
        "bbr-fails-by-halves+gateway-auth-operator-out-beside-a-rollout",
        "engine-pages-far-apart",
        "engine-pages-very-far-apart",
        "engine-preemption-storm",
        "engine-queue-overload",
        "engine-request-errors-http",
        "engine-stalled-and-picker-at-zero",
        "model-node-pressure+model-unschedulable",
        "model-pod-restarts-and-reporter+model-picker-at-zero",
        "model-pod-restarts-not-ready+model-unschedulable",
        "own-reason-of-models-and-cluster",
        "row-kaito-provisioning+silence-across-restart",
        "weights-one-of-four+model-node-refused-after-serving",
    }
)
"""Cases that once broke the law at some of their moments: most of these are tried on every change."""

MOST = 10
"""The restarts that are tried, drawn from all, of two cases at once and of one that was broken."""


def broken_laws(case, name: str, *, most: int | None) -> list[str]:
    old = OldProcess(case, name, most=most)
    old.run()
    found = [f"without a restart: {each}" for each in old.hidden]
    for new in list(old.successors):
        new.run()
        found += [f"restart after {new.stopped_at}: {each}" for each in broken_law(old, new)]
    return found


def case_of(name: str):
    names = name.split("+")
    return mixed(*map(CASES.get, names)) if len(names) > 1 else CASES[name]


def with_unseen(names: Iterable[str]):
    return [
        pytest.param(name, marks=pytest.mark.xfail(reason=UNSEEN[name], strict=True))
        if name in UNSEEN
        else name
        for name in names
    ]


@pytest.mark.parametrize("name", [name for name in CASES if name not in ONCE_BROKEN.union(UNSEEN)])
def test_restart_of_a_case_changes_nothing(name):
    assert broken_laws(CASES[name], name, most=1) == []


@pytest.mark.parametrize("name", [name for name in PAIR_NAMES if name not in UNSEEN][:20])
def test_restart_amid_two_cases_changes_nothing(name):
    assert broken_laws(case_of(name), name, most=1) == []


@pytest.mark.parametrize("name", sorted(ONCE_BROKEN))
def test_restarts_of_a_case_that_was_broken_change_nothing(name):
    assert broken_laws(case_of(name), name, most=MOST) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", with_unseen(CASES))
def test_restart_anywhere_in_a_case_changes_nothing(name):
    assert broken_laws(CASES[name], name, most=None) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", with_unseen(PAIR_NAMES))
def test_restart_anywhere_amid_two_cases_changes_nothing(name):
    assert broken_laws(case_of(name), name, most=MOST) == []


def test_each_case_in_which_the_law_does_not_hold_is_one_that_is_tried():
    assert UNSEEN.keys() <= CASES.keys() | set(PAIR_NAMES)
