"""
One line for each change of state, none for a pass; what happens to many subjects at once is one too.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

from reporter.model.subjects import Key
from reporter.stages.judgement import Judgement
from reporter.stages.states import State, said, states


NEWS = timedelta(seconds=5)
"""
How long something must be Unknown to be told.
"""

MANY = 3
"""
Of more than so many with the same change for the same cause only the first is named.
"""

logger = logging.getLogger("reporter.states")


class Change(NamedTuple):
    """
    *why* is empty or begins with a colon. *reason* is empty for any.
    """

    reason: str
    old: State | None
    new: State | None
    why: str


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
        alike: defaultdict[Change, list[Key]] = defaultdict(list)
        for key in sorted(self._told.keys() | new.keys()):
            old, now = self._told.get(key), new.get(key)
            if now != old and not _is_fleeting(key, after):
                # What cannot be seen blinds many reasons at once.
                reason = "" if State.UNKNOWN in (old, now) else key.reason
                alike[Change(reason, old, now, _why(key, after))].append(key)
                self._tell(key, now)
        for change, keys in alike.items():
            for told in [keys] if len(keys) > MANY else [[key] for key in keys]:
                _say(change, told)
        for key in sorted(after.notes):
            if before.notes.get(key) != after.notes[key]:
                for note in after.notes[key]:
                    logger.warning("%s: %s", key.reason, note, extra=_fields(key))

    def _tell(self, key: Key, state: State | None) -> None:
        if state is None:
            del self._told[key]
        else:
            self._told[key] = state


def _say(change: Change, keys: Sequence[Key]) -> None:
    new, old = change.new or "clear", change.old or "clear"
    first, more = keys[0], len(keys) - 1
    fields = (
        _fields(first) if not more else {"reason": change.reason, "layer": first.subject.layer}
    )
    logger.log(
        logging.WARNING if change.new in _LOUD else logging.INFO,
        "%s%s: %s, was %s%s",
        first,
        f" and {more} more" if more else "",
        new,
        old,
        change.why,
        extra={**fields, "state": str(new), "was": str(old)},
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
