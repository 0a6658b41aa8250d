"""Since when each finding has existed."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import TypeAlias

from reporter.evaluation.clocks import FindingState
from reporter.evaluation.evaluation import Evaluation
from reporter.metrics.index import without_item
from reporter.model.states import SinceFrom
from reporter.model.subjects import FindingKey, Subject
from reporter.rollup.since import Since, since_of


Episodes: TypeAlias = Mapping[FindingKey, datetime]
"""The start of each open episode. Only the leader has any."""

_Known: TypeAlias = tuple[FindingState, datetime | None, float]


class FindingTimes:
    """The time since which the trouble of each finding has existed, as the status has it."""

    def __init__(self) -> None:
        self._known: dict[FindingKey, _Known] = {}

    def find(
        self, evaluation: Evaluation, episodes: Episodes, own_series: Collection[FindingKey]
    ) -> Mapping[FindingKey, float]:
        """
        Return the Unix time since which the trouble of each finding has existed, by key without item.

        Of several findings with one key the earliest time counts. Those about InferenceSets that are not
        among *own_series* have the key of their namespace.
        """
        found: dict[FindingKey, float] = {}
        for key, moment in self._moments(evaluation, episodes):
            pair = without_item(key)
            if pair.subject.name and pair not in own_series:
                pair = FindingKey(Subject(key.subject.layer, key.subject.namespace), key.reason)
            found[pair] = min(moment, found.get(pair, moment))
        return found

    def _moments(
        self, evaluation: Evaluation, episodes: Episodes
    ) -> Iterator[tuple[FindingKey, float]]:
        now, before, self._known = evaluation.evaluated_at, self._known, {}
        if now is None:
            return
        for key, state in evaluation.tracked.finding_states.items():
            if not state.past_hold:
                continue
            episode, known = episodes.get(key), before.get(key)
            if known is None or known[0] is not state or known[1] != episode:
                since = _since(key, state, episodes, now=now)
                if evaluation.unread_events and since.source is SinceFrom.PROCESS:
                    continue  # an earlier process may have seen it begin
                known = (state, episode, since.moment.timestamp())
            self._known[key] = known
            yield key, known[2]


def _since(key: FindingKey, state: FindingState, episodes: Episodes, *, now: datetime) -> Since:
    return min(
        since_of(key, state, clock, episodes, now=now) for clock in state.clocks if clock.past_hold
    )
