"""The state of a key in one word, for logs, metrics and the status page."""

from enum import StrEnum, unique

from reporter.evaluation.evaluation import Evaluation
from reporter.model.subjects import FindingKey


@unique
class ReasonState(StrEnum):
    """The state of a key. A key without a state is clear."""

    HELD = "held"  # trouble that has not outlived its hold
    ANNOUNCED = "announced"  # the primary finding of its subject, or an orthogonal one
    DUE = "due"  # the same on a replica that does not lead: the leader announces it
    SILENCED = "silenced"  # it would be, but for a silence: not announced until that ends
    OUTRANKED = "outranked"  # a finding that the primary one names in its suffix
    SUPPRESSED = "suppressed"  # trouble that follows from an upstream that is out
    SETTLING = "settling"  # the trouble is absent, but has not settled
    UNKNOWN = "unknown"  # cannot be evaluated now; the last known state is kept


def reason_state(evaluation: Evaluation, key: FindingKey) -> ReasonState:
    """Return the state of a key that has a finding state."""
    state = evaluation.tracked.finding_states[key]
    if state.why_unknown:
        return ReasonState.UNKNOWN
    if not state.troubles:
        return ReasonState.SETTLING
    if key in evaluation.suppressions.suppressed_by:
        return ReasonState.SUPPRESSED
    if not state.announceable:
        # The trouble that outlived its hold is absent; another one of the same key is still held.
        return ReasonState.SETTLING if state.past_hold else ReasonState.HELD
    if evaluation.ranking_of(key.subject).is_outranked(key):
        return ReasonState.OUTRANKED
    is_silenced = evaluation.silence_of(key) is not None
    return ReasonState.SILENCED if is_silenced else ReasonState.ANNOUNCED


def is_alerted(evaluation: Evaluation, key: FindingKey) -> bool:
    """
    Return whether an alert is to fire for a key: its trouble has outlived its hold and not settled.

    Being outranked or Unknown changes nothing: another finding beside it is no recovery. A
    suppressed or silenced one has no alert.
    """
    state = evaluation.tracked.finding_states.get(key)
    return (
        state is not None
        and state.past_hold
        and key not in evaluation.suppressions.suppressed_by
        and evaluation.silence_of(key) is None
    )


def shown_state(evaluation: Evaluation, key: FindingKey, *, leading: bool) -> ReasonState | None:
    """Return the state of a key, None if it is clear: only a leader calls a finding announced."""
    if key in evaluation.tracked.unknown_states:
        return ReasonState.UNKNOWN
    if key not in evaluation.tracked.finding_states:
        return None
    state = reason_state(evaluation, key)
    return ReasonState.DUE if state is ReasonState.ANNOUNCED and not leading else state
