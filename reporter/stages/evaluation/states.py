"""
The state of a key in one word, for logs, metrics and the status page.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum, unique

from reporter.model.subjects import FindingKey
from reporter.stages.evaluation.diff import changed_keys
from reporter.stages.evaluation.evaluation import Evaluation


@unique
class ReasonState(StrEnum):
    """
    A key that is none of these is clear.
    """

    HELD = "held"  # trouble that has not lasted yet
    ANNOUNCED = "announced"  # the finding that speaks for its subject
    DUE = "due"  # the same, seen by a process that does not lead: the leader announces it
    OUTRANKED = "outranked"  # a finding that another one speaks for
    SUPPRESSED = "suppressed"  # trouble that follows from an upstream that is out
    SETTLING = "settling"  # gone, but not for long enough
    UNKNOWN = "unknown"  # cannot be judged now; what was known is kept


def reason_states(judged: Evaluation) -> Mapping[FindingKey, ReasonState]:
    """
    The state of every key that is not clear.
    """
    known = {key: reason_state(judged, key) for key in judged.gate.finding_states}
    return {**known, **dict.fromkeys(judged.gate.unknown_states, ReasonState.UNKNOWN)}


class StateTracker:
    """
    What may have another state than a moment ago: in an outage most keys have not.

    *before*: the judgement that was looked at last, by a process that *led* or did not.
    """

    def __init__(self) -> None:
        self._evaluation, self._was_leading = Evaluation(), False

    def update(
        self, after: Evaluation, *, leading: bool
    ) -> Iterator[tuple[FindingKey, ReasonState | None]]:
        """
        Each key that is not certainly as before, with its state now, None if it is clear.
        """
        before, led = self._evaluation, self._was_leading
        self._evaluation, self._was_leading = after, leading
        keys = (
            _affected_keys(before, after)
            if led == leading
            else _all_keys(before) | _all_keys(after)
        )
        for key in sorted(keys):
            yield key, self.state(key)

    def state(self, key: FindingKey) -> ReasonState | None:
        judged = self._evaluation
        if key in judged.gate.unknown_states:
            return ReasonState.UNKNOWN
        if key not in judged.gate.finding_states:
            return None
        found = reason_state(judged, key)
        return (
            ReasonState.DUE if found is ReasonState.ANNOUNCED and not self._was_leading else found
        )


def _all_keys(judged: Evaluation) -> set[FindingKey]:
    return judged.gate.finding_states.keys() | judged.gate.unknown_states.keys()


def _affected_keys(before: Evaluation, after: Evaluation) -> set[FindingKey]:
    ranked = changed_keys(before.rankings, after.rankings)
    standings = [judged.ranking_of(subject) for subject in ranked for judged in (before, after)]
    return (
        changed_keys(before.gate.finding_states, after.gate.finding_states)
        | changed_keys(before.gate.unknown_states, after.gate.unknown_states)
        | (before.suppressions.suppressed_by.keys() ^ after.suppressions.suppressed_by.keys())
        | {key for each in standings for key in (*each.ranked, *each.orthogonal)}
    )


def apply_leadership(
    states: Mapping[FindingKey, ReasonState], *, leading: bool
) -> Mapping[FindingKey, ReasonState]:
    """
    As a process may put them that announces only while it is *leading*.
    """
    if leading:
        return states
    return {k: ReasonState.DUE if s is ReasonState.ANNOUNCED else s for k, s in states.items()}


def reason_state(judged: Evaluation, key: FindingKey) -> ReasonState:
    record = judged.gate.finding_states[key]
    if record.why_unknown:
        return ReasonState.UNKNOWN
    if not record.troubles:
        return ReasonState.SETTLING
    if key in judged.suppressions.suppressed_by:
        return ReasonState.SUPPRESSED
    if not record.announceable:
        return ReasonState.SETTLING if record.past_hold else ReasonState.HELD
    standing = judged.ranking_of(key.subject)
    speaks = key in standing.primary or key in standing.orthogonal
    return ReasonState.ANNOUNCED if speaks else ReasonState.OUTRANKED
