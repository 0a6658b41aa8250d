"""Decide when a finding without a series is over, and not only unknown to a new process."""

from datetime import datetime, timedelta

from reporter.evaluation.evaluation import Evaluation
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey


FIRST_PASS = timedelta(seconds=10)
"""The time in which the parts of the first pass end."""

UNDECIDED_AT_MOST = timedelta(minutes=15)
"""
The time after which what is still undecided counts no more. By then an alert says that it is Unknown.
"""


class InitialPassKeys:
    """
    Remembers which keys the first pass of this process left undecided: held anew, or Unknown.

    An earlier process may have found them so long ago that no Event tells. *are_decided*: none is left.
    *reading*: the reasons that read metrics pages, which a healthy pod may lack for ever; for these
    Unknown is no trouble to wait for.
    """

    def __init__(self, reading: frozenset[Reason] = frozenset()) -> None:
        self.are_decided = False
        self._reading = reading
        self._began: datetime | None = None
        self._undecided: set[FindingKey] = set()

    def follow(self, evaluation: Evaluation) -> None:
        """Note the keys that a pass leaves undecided, if it is one of the first, and those decided by now."""
        now = evaluation.evaluated_at
        if self.are_decided or now is None:
            return
        self._began = self._began or now
        if now - self._began < FIRST_PASS:
            tracked = evaluation.tracked
            self._undecided.update(tracked.unknown_states.keys() | tracked.finding_states.keys())
        self._undecided = {key for key in self._undecided if self._is_undecided(evaluation, key)}
        self.are_decided = not self._undecided or now - self._began >= UNDECIDED_AT_MOST

    def _is_undecided(self, evaluation: Evaluation, key: FindingKey) -> bool:
        if key in evaluation.tracked.unknown_states:
            return key.reason not in self._reading
        state = evaluation.tracked.finding_states.get(key)
        return state is not None and not state.past_hold
