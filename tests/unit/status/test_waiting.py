"""The ends of a wait."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from reporter.model.enums import Layer
from reporter.model.states import Actionability, State
from reporter.model.status_document import AvailableCounts, Blocking
from reporter.status.source import StatusAnswer, StatusQueryFailed, Target
from reporter.status.summary import Summary
from reporter.status.waiting import (
    Outcome,
    StatusWait,
    WaitCondition,
    Waited,
    Waiter,
    judge,
)
from tests.support.virtual_clock import START_SECONDS, VirtualClock, VirtualEventLoop


def a_summary(state: State, acts: Actionability | None = None, *, available=None) -> Summary:
    blocking = None
    if acts is not None:
        blocking = Blocking(code="X", layer=Layer.CLUSTER, actionability=acts)
    return Summary(state, state, available, blocking=blocking)


def judged(
    summary: Summary, condition=WaitCondition.READY, *, fail_fast=True, name=""
) -> Outcome | None:
    target = Target("team-a", name)
    wait = StatusWait(target, condition, timedelta(minutes=1), fail_fast=fail_fast)
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
    assert judged(summary, WaitCondition.AVAILABLE, name="qwen") is outcome


@pytest.mark.parametrize(
    ("counts", "outcome"),
    [
        (AvailableCounts(available=2, paused=1), Outcome.MET),
        (AvailableCounts(available=2, unavailable=1), None),
        (AvailableCounts(available=2, unknown=1), None),
        (None, Outcome.MET),  # a reporter of an earlier release does not count them
    ],
)
def test_a_namespace_is_available_once_all_its_models_are(counts, outcome):
    summary = replace(a_summary(State.CURRENT, available=True), counts=counts)
    assert judged(summary, WaitCondition.AVAILABLE) is outcome


def test_one_model_is_not_enough_where_they_are_not_counted():
    summary = a_summary(State.IN_PROGRESS, available=True)
    assert judged(summary, WaitCondition.AVAILABLE) is None


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


def test_what_is_being_deleted_is_not_waited_for_although_it_still_serves():
    summary = a_summary(State.TERMINATING, available=True)
    assert judged(summary, WaitCondition.AVAILABLE) is Outcome.ENDING


def test_a_subject_that_is_being_deleted_ends_a_fast_wait():
    assert judged(a_summary(State.TERMINATING)) is Outcome.ENDING
    assert judged(a_summary(State.TERMINATING), fail_fast=False) is None


# ------------------------------------------------------------ in virtual time


class ScriptedSource:
    """Answers in order, the last one again and again. *asked_at*: the seconds of the questions."""

    description, may_lag = "a script", False

    def __init__(self, clock: VirtualClock, *answers: StatusAnswer | StatusQueryFailed) -> None:
        self._clock, self._answers = clock, list(answers)
        self.asked_at: list[float] = []

    async def open(self) -> "ScriptedSource":
        return self

    async def ask(self, target: Target, *, after: StatusAnswer | None = None) -> StatusAnswer:
        self.asked_at.append(self._clock.now - START_SECONDS)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, StatusQueryFailed):
            raise answer
        return answer

    async def close(self) -> None: ...


def replayed(
    seconds: float, *answers: StatusAnswer | StatusQueryFailed
) -> tuple[Waited, list[float]]:
    """Wait for team-a to be gone; return the end, and when was asked."""
    clock = VirtualClock()
    event_loop, source = VirtualEventLoop(clock), ScriptedSource(clock, *answers)
    wait = StatusWait(Target("team-a"), WaitCondition.GONE, timedelta(seconds=seconds))
    waiter = Waiter(source.open, wait, seconds=lambda: clock.now)
    task = event_loop.loop.create_task(waiter.run())
    try:
        event_loop.run_until_idle()
        while not task.done():
            clock.now = event_loop.next_timer
            event_loop.run_until_idle()
        return task.result(), source.asked_at
    finally:
        event_loop.close()


GONE = StatusAnswer(None, missing="no workload namespace team-a")
BUSY = StatusQueryFailed("32 requests wait", may_pass=True, retry_after=timedelta(minutes=1))


def test_the_last_look_is_at_the_end_of_the_time():
    waited, asked_at = replayed(2, BUSY, GONE)
    assert (waited.outcome, asked_at) == (Outcome.MET, [0, 2])


def test_the_pause_that_a_server_asks_for_is_kept():
    waited, asked_at = replayed(600, BUSY, GONE)
    assert (waited.outcome, asked_at) == (Outcome.MET, [0, 60])


def test_a_server_that_asks_for_days_is_asked_again_after_a_minute():
    busy = StatusQueryFailed("asked too often", may_pass=True, retry_after=timedelta(days=10))
    waited, asked_at = replayed(43_200, busy, GONE)
    assert (waited.outcome, asked_at) == (Outcome.MET, [0, 60])


def test_a_time_without_any_answer_ends_with_its_cause():
    waited, asked_at = replayed(90, BUSY)
    assert (waited.outcome, waited.error) == (Outcome.NO_ANSWER, "32 requests wait")
    assert asked_at == [0, 60, 90]
