"""Log one line for each change of state, and one line for the same change of many subjects."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.finished_pass import FinishedPass
from reporter.evaluation.silence_texts import until_text
from reporter.evaluation.states import ReasonState
from reporter.model.subjects import FindingKey


UNKNOWN_LOG_DELAY = timedelta(seconds=5)
"""
The time for which a key must be Unknown until that is logged. A status may lag its spec for a moment
after every change, which is not worth a line.
"""

SUMMARIZE_CAUSE_ABOVE = 3
"""
The number of keys with the same change for the same cause above which one line names only the first.
"""

SUMMARIZE_CHANGE_ABOVE = 50
"""The same for keys with the same change, whatever their causes."""

logger = logging.getLogger("reporter.states")


class StateChange(NamedTuple):
    """
    One change of state, of one key or many.

    *reason*: empty if the keys have several. *why*: empty, or begins with a colon.
    """

    reason: str
    old: ReasonState | None
    new: ReasonState | None
    why: str


class StateLog:
    """Compares each pass with what was logged last."""

    def __init__(self) -> None:
        self._logged: dict[FindingKey, ReasonState] = {}
        self._delayed: set[FindingKey] = set()
        self._notes: Mapping[FindingKey, tuple[str, ...]] = {}

    def follow(self, finished: FinishedPass) -> Iterable[None]:
        """
        Log the changes of state in a pass, and new notes of the evaluation.

        A key that is Unknown is logged once that has lasted UNKNOWN_LOG_DELAY. The result is empty: the
        pass is taken in one step.
        """
        after = finished.evaluation
        keys_by_change: defaultdict[
            tuple[str, ReasonState | None, ReasonState | None], list[FindingKey]
        ] = defaultdict(list)
        for key, new in self._changed_states(finished):
            old = self._logged.get(key)
            if new != old and _is_briefly_unknown(key, after):
                self._delayed.add(key)
            elif new != old:
                # One kind that cannot be read makes many reasons Unknown at once.
                reason = "" if ReasonState.UNKNOWN in (old, new) else key.reason
                keys_by_change[reason, old, new].append(key)
                self._remember(key, new)
        for (reason, old, new), keys in keys_by_change.items():
            for why, grouped in _group_by_cause(keys, after):
                _log_change(StateChange(reason, old, new, why), grouped)
        _log_new_notes(self._notes, after.notes)
        self._notes = after.notes
        return ()

    def _changed_states(
        self, finished: FinishedPass
    ) -> Iterable[tuple[FindingKey, ReasonState | None]]:
        """
        Return the keys that may have changed in this pass, and those whose logging was delayed.
        """
        delayed, self._delayed = self._delayed, set()
        return [(key, finished.state(key)) for key in sorted(finished.changed | delayed)]

    def _remember(self, key: FindingKey, state: ReasonState | None) -> None:
        if state is None:
            del self._logged[key]
        else:
            self._logged[key] = state


def _log_new_notes(
    before: Mapping[FindingKey, tuple[str, ...]], after: Mapping[FindingKey, tuple[str, ...]]
) -> None:
    for key in sorted(after):
        if before.get(key) != after[key]:
            for note in after[key]:
                logger.warning("%s: %s", key.reason, note, extra=_log_fields(key))


def _group_by_cause(
    keys: Sequence[FindingKey], evaluation: Evaluation
) -> Iterator[tuple[str, Sequence[FindingKey]]]:
    """
    Yield the cause and the keys of each line: an outage of a thousand models is not a thousand lines.
    """
    if len(keys) > SUMMARIZE_CHANGE_ABOVE:
        yield _describe_cause(keys[0], evaluation), keys
        return
    keys_by_cause: defaultdict[str, list[FindingKey]] = defaultdict(list)
    for key in keys:
        keys_by_cause[_describe_cause(key, evaluation)].append(key)
    for why, same_cause in keys_by_cause.items():
        if len(same_cause) > SUMMARIZE_CAUSE_ABOVE:
            yield why, same_cause
        else:
            yield from ((why, [key]) for key in same_cause)


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


def _is_briefly_unknown(key: FindingKey, evaluation: Evaluation) -> bool:
    """Return whether a key has been Unknown for less than UNKNOWN_LOG_DELAY."""
    state = evaluation.tracked.finding_states.get(key)
    unknown = evaluation.tracked.unknown_states.get(key)
    since = unknown.since if unknown is not None else state.unknown_since if state else None
    return (
        since is not None
        and evaluation.evaluated_at is not None
        and evaluation.evaluated_at - since < UNKNOWN_LOG_DELAY
    )


_WARNING_STATES = frozenset({ReasonState.ANNOUNCED, ReasonState.UNKNOWN})


def _log_fields(key: FindingKey) -> dict[str, str]:
    return {
        "reason": key.reason,
        "layer": key.subject.layer,
        "namespace": key.subject.namespace,
        "inferenceset": key.subject.name,
    }


def _describe_cause(key: FindingKey, evaluation: Evaluation) -> str:
    if key in evaluation.tracked.unknown_states:
        return f": {evaluation.tracked.unknown_states[key].why}"
    state = evaluation.tracked.finding_states.get(key)
    if state is None:
        return ""
    if state.why_unknown:
        return f": {state.why_unknown}"
    causes = sorted(f"{each.cause.object} {each.cause.code}" for each in state.troubles)
    sources = evaluation.suppressions.suppressed_by.get(key, ())
    by = ", ".join(sorted({source.reason for source in sources}))
    silence = evaluation.silence_of(key)
    ends = f" (silenced until {until_text(silence)})" if silence is not None else ""
    why = f" (suppressed by {by})" if by else ""
    return (f": {'; '.join(causes)}" if causes else "") + why + ends
