"""Finished passes as the controller hands them out, made of an Evaluation."""

from datetime import timedelta

from reporter.evaluation.clocks import ZERO
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.finished_pass import FinishedPass, StateTracker
from tests.support.builders import NOON, a_store


NOTHING_OBSERVED = a_store().snapshot()


def finished_pass(
    evaluation: Evaluation,
    tracker: StateTracker | None = None,
    *,
    leading: bool = True,
    took: timedelta = ZERO,
) -> FinishedPass:
    """Return a pass over all subjects. *tracker*: knows the pass before; without it, there was none."""
    tracker = tracker or StateTracker()
    return FinishedPass(
        evaluation=evaluation,
        snapshot=NOTHING_OBSERVED,
        evaluated=evaluation.subjects,
        dirty=frozenset(),
        now=evaluation.evaluated_at or NOON,
        changed=tracker.update(evaluation, leading=leading),
        leading=leading,
        took=took,
    )
