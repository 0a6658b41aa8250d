"""The states of all reasons at once."""

from collections.abc import Mapping

from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.states import ReasonState, StateTracker
from reporter.model.subjects import FindingKey


def reason_states(evaluation: Evaluation) -> Mapping[FindingKey, ReasonState]:
    """Return the state of every key that is not clear, as a leader shows it."""
    changes = StateTracker().update(evaluation, leading=True)
    return {key: state for key, state in changes if state is not None}
