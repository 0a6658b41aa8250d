"""
Rank the findings of a subject and choose the primary one, which is announced.

Candidates are findings that are not suppressed. A finding that has been clear for the settle neither
outranks others nor is named, although a longer settle of its own may still keep its episode open.
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
    The order of the candidates of one subject.

    *primary*: the keys of the highest-ranked reason. Several only for missing CRDs, which have one
    key each.
    *ranked*: all candidates that have a rank, highest first.
    *orthogonal*: all candidates without a rank, which are announced on their own.
    """

    primary: tuple[FindingKey, ...]
    ranked: tuple[FindingKey, ...]
    orthogonal: tuple[FindingKey, ...] = ()

    def keys_to_announce(self, emission: Emission) -> tuple[FindingKey, ...]:
        announced = self.primary if emission is Emission.PRIMARY else self.ranked
        return (*announced, *self.orthogonal)

    def other_reasons(self, key: FindingKey) -> tuple[Reason, ...]:
        """
        Return the reasons for the "also" suffix of a key, sorted; none for an orthogonal key.
        """
        if key in self.orthogonal:
            return ()
        return tuple(sorted({k.reason for k in self.ranked} - {key.reason}))


def rank(
    gate: Gate,
    suppressions: Suppressions,
    catalogue: Catalogue,
    *,
    settle: timedelta,
    before: Mapping[Subject, Ranking],
    changed: Iterable[FindingKey],
) -> Mapping[Subject, Ranking]:
    """
    Return the ranking of each subject that has a candidate.

    Only the subjects of *changed* keys are ranked anew; the others keep their ranking from *before*.
    """
    subjects = {key.subject for key in changed}
    if not subjects:
        return before
    candidates: defaultdict[Subject, list[FindingKey]] = defaultdict(list)
    for key, state in gate.finding_states.items():
        if (
            key.subject in subjects
            and key not in suppressions.suppressed_by
            and is_candidate(state, settle=settle)
        ):
            candidates[key.subject].append(key)
    unchanged = {subject: each for subject, each in before.items() if subject not in subjects}
    return unchanged | {
        subject: _rank_subject(keys, catalogue) for subject, keys in candidates.items()
    }


def is_candidate(state: FindingState, *, settle: timedelta) -> bool:
    """
    Return whether a finding outranks others and is named: it exists, or did within the settle.
    """
    return state.past_hold and (bool(state.announceable) or state.clear_for < settle)


def _rank_subject(keys: Iterable[FindingKey], catalogue: Catalogue) -> Ranking:
    def order(key: FindingKey) -> tuple[int, FindingKey]:
        return (catalogue[key.reason].rank or 0, key)

    ordered = sorted(keys, key=order)
    ranked = tuple(key for key in ordered if not catalogue[key.reason].orthogonal)
    primary = tuple(key for key in ranked if key.reason == ranked[0].reason)
    if primary == ranked:
        primary = ranked  # one tuple for both: an outage makes ten thousand rankings
    return Ranking(primary, ranked, tuple(key for key in ordered if key not in ranked))
