"""The codes of the causes that a replay announced."""

from collections import defaultdict
from collections.abc import Mapping

from reporter.model.enums import Reason
from reporter.stages.announcing.announcement_state import AnnouncementState
from reporter.stages.evaluation.evaluation import Evaluation


class AnnouncedCodes:
    """Collects them pass by pass."""

    def __init__(self) -> None:
        self._codes: defaultdict[Reason, set[str]] = defaultdict(set)

    @property
    def by_reason(self) -> Mapping[Reason, frozenset[str]]:
        return {reason: frozenset(codes) for reason, codes in self._codes.items()}

    def add(self, evaluation: Evaluation, state: AnnouncementState) -> None:
        """Add the causes of each episode that runs."""
        grouped = {
            (member, key.reason) for key, group in state.groups.items() for member in group.members
        }
        for key, finding in evaluation.gate.finding_states.items():
            if key in state.episodes or (key.subject, key.reason) in grouped:
                codes = {each.trouble.cause.code for each in finding.announceable}
                self._codes[key.reason] |= codes
