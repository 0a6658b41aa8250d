"""The states of all reasons at once."""

from collections.abc import Mapping

from reporter.model.subjects import FindingKey
from reporter.stages.evaluation.evaluation import Evaluation
from reporter.stages.evaluation.states import ReasonState, StateTracker


def reason_states(evaluation: Evaluation) -> Mapping[FindingKey, ReasonState]:
    """Return the state of every key that is not clear, as a leader shows it."""
    changes = StateTracker().update(evaluation, leading=True)
    return {key: state for key, state in changes if state is not None}
