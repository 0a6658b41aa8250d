"""
The ends of a wait.
"""

from datetime import timedelta

import pytest

from reporter.model.enums import Layer
from reporter.model.rollup.states import Actionability, State
from reporter.model.rollup.status import Blocking
from reporter.runtime.status.source import Target
from reporter.runtime.status.summary import Summary
from reporter.runtime.status.waiting import Outcome, StatusWait, WaitCondition, judge


def a_summary(state: State, acts: Actionability | None = None, *, available=None) -> Summary:
    blocking = None
    if acts is not None:
        blocking = Blocking(code="X", layer=Layer.CLUSTER, actionability=acts)
    return Summary(state, state, available, blocking=blocking)


def judged(summary: Summary, condition=WaitCondition.READY, *, fail_fast=True) -> Outcome | None:
    wait = StatusWait(Target("team-a"), condition, timedelta(minutes=1), fail_fast=fail_fast)
    return judge(summary, wait)


@pytest.mark.parametrize("state", State)
def test_ready_is_current_and_nothing_else(state):
    met = judged(a_summary(state), fail_fast=False)
    assert met is (Outcome.MET if state is State.CURRENT else None)


@pytest.mark.parametrize("state", State)
def test_gone_is_not_found_and_nothing_else_ends_it(state):
    met = judged(a_summary(state, Actionability.USER), WaitCondition.GONE)
    assert met is (Outcome.MET if state is State.NOT_FOUND else None)


@pytest.mark.parametrize(
    ("available", "outcome"), [(True, Outcome.MET), (False, None), (None, None)]
)
def test_available_is_certain_or_it_goes_on(available, outcome):
    summary = a_summary(State.IN_PROGRESS, available=available)
    assert judged(summary, WaitCondition.AVAILABLE) is outcome


@pytest.mark.parametrize(
    ("acts", "outcome"),
    [
        (Actionability.TRANSIENT, None),
        (Actionability.USER, Outcome.FAILED),
        (Actionability.PLATFORM, Outcome.FAILED),
    ],
)
def test_a_failure_ends_a_fast_wait_unless_it_is_transient(acts, outcome):
    summary = a_summary(State.FAILED, acts)
    assert judged(summary) is outcome
    assert judged(summary, fail_fast=False) is None


@pytest.mark.parametrize("state", [State.UNKNOWN, State.IN_PROGRESS, State.NOT_FOUND])
def test_what_may_still_become_ready_ends_no_wait(state):
    assert judged(a_summary(state, Actionability.PLATFORM)) is None


def test_a_subject_that_is_being_deleted_ends_a_fast_wait():
    assert judged(a_summary(State.TERMINATING)) is Outcome.ENDING
    assert judged(a_summary(State.TERMINATING), fail_fast=False) is None
