"""
The state of a key in one word, for logs, metrics and the status page.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum, unique

from reporter.model.subjects import Key
from reporter.stages.judgement import Judgement
from reporter.stages.unlike import unlike


@unique
class State(StrEnum):
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


def states(judged: Judgement) -> Mapping[Key, State]:
    """
    The state of every key that is not clear.
    """
    known = {key: state(judged, key) for key in judged.gate.records}
    return {**known, **dict.fromkeys(judged.gate.unseen, State.UNKNOWN)}


class Changes:
    """
    What may have another state than a moment ago: in an outage most keys have not.

    *before*: the judgement that was looked at last, by a process that *led* or did not.
    """

    def __init__(self) -> None:
        self._before, self._led = Judgement(), False

    def of(self, after: Judgement, *, leading: bool) -> Iterator[tuple[Key, State | None]]:
        """
        Each key that is not certainly as before, with its state now, None if it is clear.
        """
        before, led = self._before, self._led
        self._before, self._led = after, leading
        keys = _moved(before, after) if led == leading else _all(before) | _all(after)
        for key in sorted(keys):
            yield key, self.state(key)

    def state(self, key: Key) -> State | None:
        judged = self._before
        if key in judged.gate.unseen:
            return State.UNKNOWN
        if key not in judged.gate.records:
            return None
        found = state(judged, key)
        return State.DUE if found is State.ANNOUNCED and not self._led else found


def _all(judged: Judgement) -> set[Key]:
    return judged.gate.records.keys() | judged.gate.unseen.keys()


def _moved(before: Judgement, after: Judgement) -> set[Key]:
    ranked = unlike(before.standings, after.standings)
    standings = [judged.candidates(subject) for subject in ranked for judged in (before, after)]
    return (
        unlike(before.gate.records, after.gate.records)
        | unlike(before.gate.unseen, after.gate.unseen)
        | (before.silence.by.keys() ^ after.silence.by.keys())
        | {key for each in standings for key in (*each.ranked, *each.orthogonal)}
    )


def said(states: Mapping[Key, State], *, leading: bool) -> Mapping[Key, State]:
    """
    As a process may put them that announces only while it is *leading*.
    """
    if leading:
        return states
    return {k: State.DUE if s is State.ANNOUNCED else s for k, s in states.items()}


def state(judged: Judgement, key: Key) -> State:
    record = judged.gate.records[key]
    if record.unknown:
        return State.UNKNOWN
    if not record.troubles:
        return State.SETTLING
    if key in judged.silence.by:
        return State.SUPPRESSED
    if not record.spoken:
        return State.SETTLING if record.through else State.HELD
    standing = judged.candidates(key.subject)
    speaks = key in standing.primary or key in standing.orthogonal
    return State.ANNOUNCED if speaks else State.OUTRANKED
