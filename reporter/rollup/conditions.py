"""
The conditions of a ProductionStackStatus, so that kstatus, Argo CD and ``kubectl wait`` agree.

kstatus (sigs.k8s.io/cli-utils, pkg/kstatus) calls an object InProgress while its observedGeneration is
not its generation, takes the first of Reconciling and Stalled that is True, and asks Ready last; one
without conditions is Current. So Reconciling and Stalled are never both True, and all are always there.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from reporter.model import object_status
from reporter.model.states import State
from reporter.model.times import parse_zoned_time
from reporter.rollup.answers import ObjectAnswer


class _Statuses(NamedTuple):
    ready: bool | None = False
    reconciling: bool = False
    stalled: bool = False


_STATUSES: Mapping[State, _Statuses] = {
    State.CURRENT: _Statuses(ready=True),
    State.IN_PROGRESS: _Statuses(reconciling=True),
    State.TERMINATING: _Statuses(reconciling=True),
    State.UNKNOWN: _Statuses(ready=None, reconciling=True),
    State.FAILED: _Statuses(stalled=True),
    State.NOT_FOUND: _Statuses(stalled=True),
}

_NOT_IN_REASONS = re.compile(r"[^A-Za-z0-9_,:]+")
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
"""A reason of metav1.Condition (apimachinery, pkg/apis/meta/v1, types.go)."""


def make_conditions(
    answer: ObjectAnswer, held: Mapping[str, Any], *, generation: int, now: datetime
) -> tuple[object_status.ObjectCondition, ...]:
    """
    Return the conditions, each dated by its last change; *held*, the object's status so far, has their times.
    """
    times = dict(_held_times(held))
    now = now.replace(microsecond=0)

    def condition(
        kind: str, value: bool | None, reason: str, message: str
    ) -> object_status.ObjectCondition:
        status = object_status.ConditionStatus.of(value)
        return object_status.ObjectCondition(
            type=kind,
            status=status,
            observed_generation=generation,
            last_transition_time=times.get((kind, status), now),
            reason=reason,
            message=message,
        )

    statuses = _STATUSES[answer.state]
    why, message = _reason_of(answer), _message_of(answer)

    def detail(kind: str, value: bool) -> object_status.ObjectCondition:
        return condition(
            kind, value, why if value else str(answer.state), message if value else ""
        )

    available, (observed, unobserved) = answer.available, _observed(answer)
    return (
        condition(object_status.READY, statuses.ready, why, message),
        detail(object_status.RECONCILING, statuses.reconciling),
        detail(object_status.STALLED, statuses.stalled),
        condition(
            object_status.AVAILABLE, available, _AVAILABLE_REASONS[available], answer.not_available
        ),
        condition(object_status.OBSERVED, observed, _OBSERVED_REASONS[observed], unobserved),
    )


_AVAILABLE_REASONS = {True: "Available", False: "Unavailable", None: "Unknown"}
_OBSERVED_REASONS = {True: "Observed", False: "PartlyUnknown", None: "Unknown"}


def _observed(answer: ObjectAnswer) -> tuple[bool | None, str]:
    """Return whether all that it is about is known, and what is not."""
    if not answer.unobserved and answer.state is State.UNKNOWN:
        return False, "its state is Unknown"
    if answer.unobserved is None:
        return None, "its reporter does not say whether all below it is known"
    return not answer.unobserved, answer.unobserved


def _reason_of(answer: ObjectAnswer) -> str:
    """Return the reason of the blocking cause, and the pattern where nobody names one in time."""
    blocking = answer.blocking
    if blocking is None:
        return str(answer.state)
    named = answer.problem or blocking.reason
    if blocking.pattern is not None and answer.state is not State.FAILED:
        named = blocking.pattern
    cleaned = _NOT_IN_REASONS.sub("", named).rstrip(",:")
    return cleaned if _REASON.fullmatch(cleaned) else str(answer.state)


def _message_of(answer: ObjectAnswer) -> str:
    blocking = answer.blocking
    if blocking is None:
        return ""
    return " ".join(text for text in (blocking.message, blocking.remedy) if text)


def _held_times(held: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], datetime]]:
    """
    Yield the time of each condition by its type and status; those that are no times are left out.
    """
    conditions = held.get("conditions")
    for each in conditions if isinstance(conditions, list) else ():
        if not isinstance(each, dict):
            continue
        time = parse_zoned_time(each.get("lastTransitionTime"))
        if time is not None:
            yield (str(each.get("type")), str(each.get("status"))), time
