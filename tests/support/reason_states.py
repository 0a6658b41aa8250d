"""The states of all reasons at once."""

from collections.abc import Mapping

from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.states import ReasonState, shown_state
from reporter.model.subjects import FindingKey


def reason_states(evaluation: Evaluation) -> Mapping[FindingKey, ReasonState]:
    """Return the state of every key that is not clear, as a leader shows it."""
    states = {key: shown_state(evaluation, key, leading=True) for key in sorted(evaluation.keys)}
    return {key: state for key, state in states.items() if state is not None}
