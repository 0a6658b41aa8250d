"""
One line for each change of state, none for a pass.
"""

import logging
from collections.abc import Callable
from datetime import timedelta

from reporter.model.subjects import Key
from reporter.stages.judgement import Judgement
from reporter.stages.states import State, said, states


NEWS = timedelta(seconds=5)
"""
How long something must be Unknown to be told.
"""

logger = logging.getLogger("reporter.states")


class StateLog:
    """
    Compares each judgement with what was last told.

    Unknown is told once it has lasted: a status that lags its spec for a moment is no news.
    """

    def __init__(self, leading: Callable[[], bool]) -> None:
        self._leading = leading
        self._told: dict[Key, State] = {}

    def passed(self, before: Judgement, after: Judgement, took: timedelta) -> None:
        new = said(states(after), leading=self._leading())
        for key in sorted(self._told.keys() | new.keys()):
            now = new.get(key)
            if now != self._told.get(key) and not _is_fleeting(key, after):
                self._say(key, self._told.get(key), now, after)
                self._tell(key, now)
        for key in sorted(after.notes):
            if before.notes.get(key) != after.notes[key]:
                for note in after.notes[key]:
                    logger.warning("%s: %s", key.reason, note, extra=_fields(key))

    def _tell(self, key: Key, state: State | None) -> None:
        if state is None:
            del self._told[key]
        else:
            self._told[key] = state

    def _say(self, key: Key, old: State | None, new: State | None, judged: Judgement) -> None:
        level = logging.WARNING if new in _LOUD else logging.INFO
        logger.log(
            level,
            "%s: %s, was %s%s",
            key,
            new or "clear",
            old or "clear",
            _why(key, judged),
            extra={**_fields(key), "state": str(new or "clear"), "was": str(old or "clear")},
        )


def _is_fleeting(key: Key, judged: Judgement) -> bool:
    """
    Whether a key has been Unknown for a moment only.
    """
    record, unseen = judged.gate.records.get(key), judged.gate.unseen.get(key)
    since = unseen.since if unseen is not None else record.blind_since if record else None
    return since is not None and judged.at is not None and judged.at - since < NEWS


_LOUD = frozenset({State.ANNOUNCED, State.UNKNOWN})


def _fields(key: Key) -> dict[str, str]:
    return {
        "reason": key.reason,
        "layer": key.subject.layer,
        "namespace": key.subject.namespace,
        "inferenceset": key.subject.name,
    }


def _why(key: Key, judged: Judgement) -> str:
    if key in judged.gate.unseen:
        return f": {judged.gate.unseen[key].why}"
    record = judged.gate.records.get(key)
    if record is None:
        return ""
    if record.unknown:
        return f": {record.unknown}"
    causes = sorted(f"{t.cause.object} {t.cause.code}" for t in record.troubles)
    by = ", ".join(sorted({source.reason for source in judged.silence.by.get(key, ())}))
    return (f": {'; '.join(causes)}" if causes else "") + (f" (suppressed by {by})" if by else "")
