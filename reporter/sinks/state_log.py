"""
One line for each change of state, none for a pass; what happens to many subjects at once is one too.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

from reporter.model.subjects import FindingKey
from reporter.stages.evaluation.evaluation import Evaluation
from reporter.stages.evaluation.states import ReasonState, StateTracker


UNKNOWN_LOG_DELAY = timedelta(seconds=5)
"""
How long something must be Unknown to be told.
"""

SUMMARIZE_CAUSE_ABOVE = 3
"""
Of more than so many with the same change for the same cause only the first is named.
"""

SUMMARIZE_CHANGE_ABOVE = 50
"""
Of more than so many with the same change, whatever their causes.
"""

logger = logging.getLogger("reporter.states")


class StateChange(NamedTuple):
    """
    *why* is empty or begins with a colon. *reason* is empty for any.
    """

    reason: str
    old: ReasonState | None
    new: ReasonState | None
    why: str


class StateLog:
    """
    Compares each judgement with what was last told.

    Unknown is told once it has lasted: a status that lags its spec for a moment is no news.
    """

    def __init__(self, leading: Callable[[], bool]) -> None:
        self._leading = leading
        self._tracker = StateTracker()
        self._logged: dict[FindingKey, ReasonState] = {}
        self._delayed: set[FindingKey] = set()

    def on_pass(self, before: Evaluation, after: Evaluation, took: timedelta) -> None:
        alike: defaultdict[
            tuple[str, ReasonState | None, ReasonState | None], list[FindingKey]
        ] = defaultdict(list)
        for key, now in self._changed_states(after):
            old = self._logged.get(key)
            if now != old and _is_briefly_unknown(key, after):
                self._delayed.add(key)
            elif now != old:
                # What cannot be seen blinds many reasons at once.
                reason = "" if ReasonState.UNKNOWN in (old, now) else key.reason
                alike[reason, old, now].append(key)
                self._remember(key, now)
        for (reason, old, now), keys in alike.items():
            for why, some in _group_by_cause(keys, after):
                _log_change(StateChange(reason, old, now, why), some)
        for key in sorted(after.notes):
            if before.notes.get(key) != after.notes[key]:
                for note in after.notes[key]:
                    logger.warning("%s: %s", key.reason, note, extra=_log_fields(key))

    def _changed_states(
        self, after: Evaluation
    ) -> Iterable[tuple[FindingKey, ReasonState | None]]:
        """
        What may have changed, and what was too fleeting to be told before.
        """
        found = dict(self._tracker.update(after, leading=self._leading()))
        fleeting, self._delayed = self._delayed, set()
        return sorted({**{key: self._tracker.state(key) for key in fleeting}, **found}.items())

    def _remember(self, key: FindingKey, state: ReasonState | None) -> None:
        if state is None:
            del self._logged[key]
        else:
            self._logged[key] = state


def _group_by_cause(
    keys: Sequence[FindingKey], judged: Evaluation
) -> Iterator[tuple[str, Sequence[FindingKey]]]:
    """
    In which lines they are told: an outage of a thousand models is not a thousand lines.
    """
    if len(keys) > SUMMARIZE_CHANGE_ABOVE:
        yield _describe_cause(keys[0], judged), keys
        return
    whys: defaultdict[str, list[FindingKey]] = defaultdict(list)
    for key in keys:
        whys[_describe_cause(key, judged)].append(key)
    for why, some in whys.items():
        for told in [some] if len(some) > SUMMARIZE_CAUSE_ABOVE else [[key] for key in some]:
            yield why, told


def _log_change(change: StateChange, keys: Sequence[FindingKey]) -> None:
    new, old = change.new or "clear", change.old or "clear"
    first, more = keys[0], len(keys) - 1
    fields = (
        _log_fields(first) if not more else {"reason": change.reason, "layer": first.subject.layer}
    )
    logger.log(
        logging.WARNING if change.new in _WARNING_STATES else logging.INFO,
        "%s%s: %s, was %s%s",
        first,
        f" and {more} more" if more else "",
        new,
        old,
        change.why,
        extra={**fields, "state": str(new), "was": str(old)},
    )


def _is_briefly_unknown(key: FindingKey, judged: Evaluation) -> bool:
    """
    Whether a key has been Unknown for a moment only.
    """
    record, unseen = judged.gate.finding_states.get(key), judged.gate.unknown_states.get(key)
    since = unseen.since if unseen is not None else record.unknown_since if record else None
    return (
        since is not None
        and judged.evaluated_at is not None
        and judged.evaluated_at - since < UNKNOWN_LOG_DELAY
    )


_WARNING_STATES = frozenset({ReasonState.ANNOUNCED, ReasonState.UNKNOWN})


def _log_fields(key: FindingKey) -> dict[str, str]:
    return {
        "reason": key.reason,
        "layer": key.subject.layer,
        "namespace": key.subject.namespace,
        "inferenceset": key.subject.name,
    }


def _describe_cause(key: FindingKey, judged: Evaluation) -> str:
    if key in judged.gate.unknown_states:
        return f": {judged.gate.unknown_states[key].why}"
    record = judged.gate.finding_states.get(key)
    if record is None:
        return ""
    if record.why_unknown:
        return f": {record.why_unknown}"
    causes = sorted(f"{t.cause.object} {t.cause.code}" for t in record.troubles)
    by = ", ".join(
        sorted({source.reason for source in judged.suppressions.suppressed_by.get(key, ())})
    )
    return (f": {'; '.join(causes)}" if causes else "") + (f" (suppressed by {by})" if by else "")
