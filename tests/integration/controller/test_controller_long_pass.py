"""A change or a deadline during a long pass."""

from collections.abc import Callable, Iterator

from reporter.controller.passes import MIN_BATCHES
from reporter.evaluation.pipeline import SUBJECTS_PER_BATCH
from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import Subject
from tests.integration.announcing.publisher_fixture import BBR
from tests.integration.controller.controller_fixture import SOON, ControllerFixture, due
from tests.support.builders import (
    a_key,
    a_trouble,
    an_active_verdict,
)
from tests.support.stall_free_loop import take_seconds
from tests.support.subject_store import a_subject_store


MODELS = tuple(Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i:04}") for i in range(900))
STEP = 0.01
"""Seconds that each step of a pass takes."""


def step_until(steps: Iterator[None], condition: Callable[[], bool]) -> bool:
    """Run a pass step by step until something holds; returns whether it did before the end."""
    return any(condition() for _ in steps)


async def test_a_change_does_not_wait_for_the_end_of_a_full_pass():
    run = ControllerFixture(a_subject_store(MODELS))
    run.controller.run_pass(full=True)
    steps = run.controller._pass_steps(full=True)
    next(steps)
    last = a_key("inferencesetPods", MODELS[-1])
    run.verdicts |= {key: an_active_verdict(key) for key in (BBR, last)}
    run.change()
    assert step_until(steps, lambda: due(run) == [BBR.reason])
    assert last not in run.controller.evaluation.tracked.finding_states
    assert step_until(steps, lambda: last in run.controller.evaluation.tracked.finding_states)


async def test_what_becomes_due_does_not_wait_for_the_end_of_a_full_pass():
    run = ControllerFixture(a_subject_store(MODELS))
    run.verdicts[BBR] = an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST))
    run.controller.run_pass(full=True)
    assert run.reason_state == "held"
    last = a_key("inferencesetPods", MODELS[-1])
    run.verdicts[last] = an_active_verdict(last)
    steps = run.controller._pass_steps(full=True)
    next(steps)
    run.clock.ahead = SOON
    assert step_until(steps, lambda: due(run) == [BBR.reason])
    assert last not in run.controller.evaluation.tracked.finding_states
    assert step_until(steps, lambda: last in run.controller.evaluation.tracked.finding_states)


async def test_a_subject_that_changes_after_it_was_evaluated_is_evaluated_again():
    run = ControllerFixture(a_subject_store(MODELS))
    run.verdicts[BBR] = an_active_verdict(BBR)
    run.controller.run_pass(full=True)
    steps = run.controller._pass_steps(full=True)
    next(steps), next(steps)
    del run.verdicts[BBR]
    run.change(1)
    assert step_until(steps, lambda: run.reason_state == "settling")
    run.verdicts[BBR] = an_active_verdict(BBR)
    run.change(2)
    assert step_until(steps, lambda: run.reason_state == "announced")


async def test_the_first_pass_is_not_cut():
    run = ControllerFixture(a_subject_store(MODELS))
    steps = run.controller._pass_steps(full=True)
    next(steps)
    for number, _ in enumerate(steps):
        run.change(number)
        assert run.passes.number <= 1
    assert run.passes.number == 1


async def test_a_long_pass_without_a_change_is_not_cut():
    run = ControllerFixture(a_subject_store(MODELS))
    for _ in range(2):
        before = run.passes.number
        for _ in run.controller._pass_steps(full=True):
            take_seconds(STEP)
        assert run.passes.number == before + 1


async def test_changes_without_end_do_not_keep_a_full_pass_from_its_end():
    run = ControllerFixture(a_subject_store(MODELS))
    run.controller.run_pass(full=True)
    last = a_key("inferencesetPods", MODELS[-1])
    run.verdicts[last] = an_active_verdict(last)
    for number, _ in enumerate(run.controller._pass_steps(full=True)):
        run.change(number)
        take_seconds(STEP)
    assert last in run.controller.evaluation.tracked.finding_states
    batches = len(MODELS) // SUBJECTS_PER_BATCH + 1
    assert run.passes.number <= 2 + 2 * (batches // MIN_BATCHES)
