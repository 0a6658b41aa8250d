"""
One line for each change of state, none for a pass; what happens to many subjects at once is one too.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

from reporter.model.subjects import Key
from reporter.stages.judgement import Judgement
from reporter.stages.states import Changes, State


NEWS = timedelta(seconds=5)
"""
How long something must be Unknown to be told.
"""

MANY = 3
"""
Of more than so many with the same change for the same cause only the first is named.
"""

CROWD = 50
"""
Of more than so many with the same change, whatever their causes.
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
        self._changes = Changes()
        self._told: dict[Key, State] = {}
        self._fleeting: set[Key] = set()

    def passed(self, before: Judgement, after: Judgement, took: timedelta) -> None:
        alike: defaultdict[tuple[str, State | None, State | None], list[Key]] = defaultdict(list)
        for key, now in self._looked_at(after):
            old = self._told.get(key)
            if now != old and _is_fleeting(key, after):
                self._fleeting.add(key)
            elif now != old:
                # What cannot be seen blinds many reasons at once.
                reason = "" if State.UNKNOWN in (old, now) else key.reason
                alike[reason, old, now].append(key)
                self._tell(key, now)
        for (reason, old, now), keys in alike.items():
            for why, some in _by_cause(keys, after):
                _say(Change(reason, old, now, why), some)
        for key in sorted(after.notes):
            if before.notes.get(key) != after.notes[key]:
                for note in after.notes[key]:
                    logger.warning("%s: %s", key.reason, note, extra=_fields(key))

    def _looked_at(self, after: Judgement) -> Iterable[tuple[Key, State | None]]:
        """
        What may have changed, and what was too fleeting to be told before.
        """
        found = dict(self._changes.of(after, leading=self._leading()))
        fleeting, self._fleeting = self._fleeting, set()
        return sorted({**{key: self._changes.state(key) for key in fleeting}, **found}.items())

    def _tell(self, key: Key, state: State | None) -> None:
        if state is None:
            del self._told[key]
        else:
            self._told[key] = state


def _by_cause(keys: Sequence[Key], judged: Judgement) -> Iterator[tuple[str, Sequence[Key]]]:
    """
    In which lines they are told: an outage of a thousand models is not a thousand lines.
    """
    if len(keys) > CROWD:
        yield _why(keys[0], judged), keys
        return
    whys: defaultdict[str, list[Key]] = defaultdict(list)
    for key in keys:
        whys[_why(key, judged)].append(key)
    for why, some in whys.items():
        for told in [some] if len(some) > MANY else [[key] for key in some]:
            yield why, told


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
