"""
Which finding of a subject speaks.

Candidates are findings that are not suppressed. One that has been clear for the settle neither
outranks nor is named, though a longer settle of its own may still keep its episode open.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from reporter.model.entries import Catalogue
from reporter.model.enums import Emission, Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.stages.evaluation.clocks import FindingState, Gate
from reporter.stages.evaluation.suppression import Suppressions


@dataclass(frozen=True, slots=True)
class Ranking:
    """
    The order among the findings of one subject.

    *primary*: keys of the highest-ranked reason, one but for missing CRDs. *ranked*: all candidates
    that have a rank, *orthogonal*: those that have none.
    """

    primary: tuple[FindingKey, ...]
    ranked: tuple[FindingKey, ...]
    orthogonal: tuple[FindingKey, ...] = ()

    def keys_to_announce(self, emission: Emission) -> tuple[FindingKey, ...]:
        loud = self.primary if emission is Emission.PRIMARY else self.ranked
        return (*loud, *self.orthogonal)

    def other_reasons(self, key: FindingKey) -> tuple[Reason, ...]:
        """
        The other reasons that hold, sorted; orthogonal ones speak for themselves.
        """
        if key in self.orthogonal:
            return ()
        return tuple(sorted({k.reason for k in self.ranked} - {key.reason}))


def rank(
    gate: Gate,
    silence: Suppressions,
    catalogue: Catalogue,
    *,
    settle: timedelta,
    before: Mapping[Subject, Ranking],
    changed: Iterable[FindingKey],
) -> Mapping[Subject, Ranking]:
    """
    The standing of each subject that has a candidate: *before*, but for the *changed* keys' subjects.
    """
    subjects = {key.subject for key in changed}
    if not subjects:
        return before
    by_subject: defaultdict[Subject, list[FindingKey]] = defaultdict(list)
    for key, record in gate.finding_states.items():
        if (
            key.subject in subjects
            and key not in silence.suppressed_by
            and _is_candidate(record, settle=settle)
        ):
            by_subject[key.subject].append(key)
    same = {subject: each for subject, each in before.items() if subject not in subjects}
    return same | {subject: _rank_subject(keys, catalogue) for subject, keys in by_subject.items()}


def _is_candidate(record: FindingState, *, settle: timedelta) -> bool:
    return record.past_hold and (bool(record.announceable) or record.clear_for < settle)


def _rank_subject(keys: Iterable[FindingKey], catalogue: Catalogue) -> Ranking:
    def order(key: FindingKey) -> tuple[int, FindingKey]:
        return (catalogue[key.reason].rank or 0, key)

    ordered = sorted(keys, key=order)
    ranked = tuple(k for k in ordered if not catalogue[k.reason].orthogonal)
    primary = tuple(k for k in ranked if k.reason == ranked[0].reason)
    return Ranking(primary, ranked, tuple(k for k in ordered if k not in ranked))
