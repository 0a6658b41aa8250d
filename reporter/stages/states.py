"""
The state of a key in one word, for logs, metrics and the status page.
"""

from collections.abc import Mapping
from enum import StrEnum, unique

from reporter.model.subjects import Key
from reporter.stages.judgement import Judgement


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
