"""
Rank the findings of a subject and choose the primary one, which is announced.

Candidates are findings that are not suppressed. A finding that has been clear for the settle neither
outranks others nor is named, although a longer settle of its own may still keep its episode open. A
finding that is silenced, or has been Unknown for the settle, is named, and is not the primary one while
another is: it cannot be announced, so it would hide those of lower rank.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import Struct

from reporter.catalogue.entries import Catalogue
from reporter.evaluation.clocks import FindingState
from reporter.evaluation.diff import changed_keys
from reporter.model.enums import Emission, Reason
from reporter.model.subjects import FindingKey, Subject


class Ranking(Struct, frozen=True):
    """
    The order of the candidates of one subject.

    *primary*: the keys of the highest-ranked reason that is neither silenced nor Unknown for the
    settle; if there is none, of the first that is not silenced. Several only for missing CRDs, which
    have one key each; none if all are silenced.
    *ranked*: all candidates that have a rank, highest first.
    *orthogonal*: all candidates without a rank, which are announced on their own.
    """

    primary: tuple[FindingKey, ...]
    ranked: tuple[FindingKey, ...]
    orthogonal: tuple[FindingKey, ...] = ()

    def keys_to_announce(self, emission: Emission) -> tuple[FindingKey, ...]:
        """
        Return the keys that may have an Event of their own, by the emission that is configured.

        That is the primary alone, or all that are ranked; those without a rank come last in any case.
        """
        announced = self.primary if emission is Emission.PRIMARY else self.ranked
        return (*announced, *self.orthogonal)

    def is_outranked(self, key: FindingKey) -> bool:
        """Return whether the primary finding is another one, of higher rank."""
        if not self.primary or key in self.primary:
            return False
        return key in self.ranked[self.ranked.index(self.primary[0]) :]

    def other_reasons(self, key: FindingKey) -> tuple[Reason, ...]:
        """
        Return the reasons for the "also" suffix of a key, sorted; none for an orthogonal key.
        """
        if key in self.orthogonal:
            return ()
        return tuple(sorted({k.reason for k in self.ranked} - {key.reason}))


class RankingInput(NamedTuple):
    """The findings of a pass at *as_of*, and which of them are suppressed or silenced."""

    finding_states: Mapping[FindingKey, FindingState]
    suppressed: Mapping[FindingKey, object]
    silenced: Mapping[FindingKey, object]
    as_of: datetime | None

    def changed_keys(self, before: "RankingInput", *, settle: timedelta) -> set[FindingKey]:
        """Return the keys that may rank otherwise than *before*."""
        changed = changed_keys(before.finding_states, self.finding_states)
        changed |= before.suppressed.keys() ^ self.suppressed.keys()
        changed |= before.silenced.keys() ^ self.silenced.keys()
        return changed | {
            key
            for key, state in self.finding_states.items()
            if state.unknown_since is not None
            and _is_long_unknown(state, settle=settle, now=self.as_of)
            and not _is_long_unknown(state, settle=settle, now=before.as_of)
        }


def rank(
    given: RankingInput,
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
    for key, state in given.finding_states.items():
        if (
            key.subject in subjects
            and key not in given.suppressed
            and is_candidate(state, settle=settle)
        ):
            candidates[key.subject].append(key)
    unchanged = {subject: each for subject, each in before.items() if subject not in subjects}
    unknown = {
        key
        for keys in candidates.values()
        for key in keys
        if _is_long_unknown(given.finding_states[key], settle=settle, now=given.as_of)
    }
    return unchanged | {
        subject: _rank_subject(keys, catalogue, silenced=given.silenced, unknown=unknown)
        for subject, keys in candidates.items()
    }


def is_candidate(state: FindingState, *, settle: timedelta) -> bool:
    """
    Return whether a finding is ranked: past its hold, and announceable or clear for less than *settle*.
    """
    return state.past_hold and (bool(state.announceable) or state.clear_for < settle)


def next_rank_deadline(
    finding_states: Mapping[FindingKey, FindingState], *, settle: timedelta, now: datetime
) -> datetime | None:
    """Return when the next finding will have been Unknown for the settle; None without one."""
    unknown = [s.unknown_since for s in finding_states.values() if s.unknown_since is not None]
    moments = (since + settle for since in unknown)
    return min((moment for moment in moments if moment > now), default=None)


def _is_long_unknown(state: FindingState, *, settle: timedelta, now: datetime | None) -> bool:
    """Return whether a finding has been Unknown for the settle; few statuses are stale so long."""
    since = state.unknown_since
    return since is not None and now is not None and now - since >= settle


def _rank_subject(
    keys: Iterable[FindingKey],
    catalogue: Catalogue,
    *,
    silenced: Container[FindingKey],
    unknown: Container[FindingKey],
) -> Ranking:
    def order(key: FindingKey) -> tuple[int, FindingKey]:
        return (catalogue[key.reason].rank or 0, key)

    ordered = sorted(keys, key=order)
    ranked = tuple(key for key in ordered if not catalogue[key.reason].orthogonal)
    not_silenced = [key for key in ranked if key not in silenced]
    first = next((key.reason for key in not_silenced if key not in unknown), None)
    first = first or next((key.reason for key in not_silenced), None)
    primary = tuple(key for key in ranked if key.reason == first)
    if primary == ranked:
        primary = ranked  # one tuple for both: an outage makes ten thousand rankings
    return Ranking(primary, ranked, tuple(key for key in ordered if key not in ranked))
