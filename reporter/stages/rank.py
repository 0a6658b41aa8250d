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
from reporter.model.subjects import Key, Subject
from reporter.model.words import Emission, Reason
from reporter.stages.records import Gate, Record
from reporter.stages.suppression import Silence


@dataclass(frozen=True, slots=True)
class Standing:
    """
    The order among the findings of one subject.

    *primary*: keys of the highest-ranked reason, one but for missing CRDs. *ranked*: all candidates
    that have a rank, *orthogonal*: those that have none.
    """

    primary: tuple[Key, ...]
    ranked: tuple[Key, ...]
    orthogonal: tuple[Key, ...] = ()

    def speakers(self, emission: Emission) -> tuple[Key, ...]:
        loud = self.primary if emission is Emission.PRIMARY else self.ranked
        return (*loud, *self.orthogonal)

    def also(self, key: Key) -> tuple[Reason, ...]:
        """
        The other reasons that hold, sorted; orthogonal ones speak for themselves.
        """
        if key in self.orthogonal:
            return ()
        return tuple(sorted({k.reason for k in self.ranked} - {key.reason}))


def rank(
    gate: Gate,
    silence: Silence,
    catalogue: Catalogue,
    *,
    settle: timedelta,
    before: Mapping[Subject, Standing],
    changed: Iterable[Key],
) -> Mapping[Subject, Standing]:
    """
    The standing of each subject that has a candidate: *before*, but for the *changed* keys' subjects.
    """
    subjects = {key.subject for key in changed}
    if not subjects:
        return before
    by_subject: defaultdict[Subject, list[Key]] = defaultdict(list)
    for key, record in gate.records.items():
        if key.subject in subjects and key not in silence.by and _candidate(record, settle=settle):
            by_subject[key.subject].append(key)
    same = {subject: each for subject, each in before.items() if subject not in subjects}
    return same | {subject: _standing(keys, catalogue) for subject, keys in by_subject.items()}


def _candidate(record: Record, *, settle: timedelta) -> bool:
    return record.through and (bool(record.spoken) or record.quiet < settle)


def _standing(keys: Iterable[Key], catalogue: Catalogue) -> Standing:
    def order(key: Key) -> tuple[int, Key]:
        return (catalogue[key.reason].rank or 0, key)

    ordered = sorted(keys, key=order)
    ranked = tuple(k for k in ordered if not catalogue[k.reason].orthogonal)
    primary = tuple(k for k in ranked if k.reason == ranked[0].reason)
    return Standing(primary, ranked, tuple(k for k in ordered if k not in ranked))
