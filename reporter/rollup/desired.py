"""
The status that an object is to have, when it is known well enough, and the patch that brings it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from reporter.kinds.productionstack import ProductionStackStatus, StatusObject
from reporter.kube.decoding import Json
from reporter.model.object_status import ObjectStatus
from reporter.model.states import State
from reporter.model.times import parse_zoned_time
from reporter.rollup import answers
from reporter.rollup.conditions import make_conditions
from reporter.rollup.document import StatusView
from reporter.rollup.subject_states import NOT_EVALUATED, NOT_LISTED


GENERATION_SETTLE = timedelta(seconds=5)
"""
Time that a new generation waits: what is applied together with it reaches other watches at other
times. Until then kstatus calls the object InProgress.
"""

RENEWAL_RECHECK = timedelta(seconds=30)

RENEWAL_SPACING = timedelta(seconds=0.5)

TEXT_INTERVAL = timedelta(minutes=1)
"""The least time between two writes of a status of which only texts change, such as numbers of restarts."""

LEAST_INTERVAL = timedelta(minutes=5)

INTERVALS_UNTIL_EXPIRY = 3
"""The renewals that a status outlives: one may fail, and another one be late, before it expires."""

EVALUATION_TIME, EXPIRATION_TIME = "lastEvaluationTime", "expirationTime"
REPORTED_TIME = "reportedTimestampSeconds"
VOLATILE = frozenset({EVALUATION_TIME, EXPIRATION_TIME, REPORTED_TIME})
"""The keys that change without news; they are written with other changes, and now and then."""


class ObjectMemory(NamedTuple):
    """
    The memory of a process about an object, beside what is in the cluster.

    *seen_at*: when this generation was first seen. *missing_since*: when it was first seen that something
    is missing which the object asks about; None if nothing is.
    """

    uid: str
    generation: int
    seen_at: datetime
    missing_since: datetime | None = None


class DesiredStatus(NamedTuple):
    """
    The status that an object is to have.

    *memory*: for the next time; None if nothing has to be remembered.
    *status*: without the time of the evaluation; None while it is not known well enough.
    *deadline*: when time alone may change the status; None if only a change in the cluster can.
    """

    memory: ObjectMemory | None
    status: Json | None
    deadline: datetime | None = None


def make_desired(
    found: ProductionStackStatus,
    view: StatusView,
    release_namespace: str,
    memory: ObjectMemory | None,
    *,
    now: datetime,
) -> DesiredStatus:
    """
    Return the status that the object is to have. *memory*: that of the last call; None for the first.
    """
    meta = found.metadata
    if memory is None or (memory.uid, memory.generation) != (meta.uid, meta.generation):
        memory = ObjectMemory(meta.uid, meta.generation, now)
    ready_at = memory.seen_at + GENERATION_SETTLE
    if found.observed_generation != meta.generation and now < ready_at:
        return DesiredStatus(memory, None, ready_at)
    answer = answers.find_answer(found, view, release_namespace)
    if _is_being_evaluated(answer, view):
        return DesiredStatus(memory, None)
    memory, answer, deadline = _wait_for_missing(found, memory, answer, view.rules.grace, now=now)
    return DesiredStatus(memory, _render(found, answer, now=now), deadline or _stalled_at(answer))


def _stalled_at(answer: answers.ObjectAnswer) -> datetime | None:
    """
    Return when time alone makes what cannot be listed stalled; all else changes the roll-up then.
    """
    found = answer.blocking
    if found is None or found.code != NOT_LISTED or found.stalled or found.since is None:
        return None
    return found.since + timedelta(seconds=found.window_seconds + 1)  # its fraction is cut off


def _is_being_evaluated(answer: answers.ObjectAnswer, view: StatusView) -> bool:
    """
    Return whether the first pass over it is under way. After a fault of the roll-up it is Unknown.
    """
    is_new = answer.blocking is not None and answer.blocking.code == NOT_EVALUATED
    return is_new and view.rollup.cluster is not None


def _wait_for_missing(
    found: ProductionStackStatus,
    memory: ObjectMemory,
    answer: answers.ObjectAnswer,
    grace: timedelta,
    *,
    now: datetime,
) -> tuple[ObjectMemory, answers.ObjectAnswer, datetime | None]:
    """Give what is named and missing the startup grace: it may be applied a moment later."""
    if answer.problem != answers.NOT_FOUND:
        return memory._replace(missing_since=None), answer, None
    memory = memory._replace(missing_since=memory.missing_since or now)
    held = found.status or {}
    if (
        held.get("state") == State.NOT_FOUND
        and found.observed_generation == found.metadata.generation
    ):
        return memory, answer, None
    deadline = (memory.missing_since or now) + grace
    if now >= deadline:
        return memory, answer, None
    return memory, answer._replace(state=State.IN_PROGRESS), deadline


def _render(found: ProductionStackStatus, answer: answers.ObjectAnswer, *, now: datetime) -> Json:
    generation = found.metadata.generation
    status = ObjectStatus(
        observed_generation=generation,
        state=answer.state,
        conditions=make_conditions(answer, found.status or {}, generation=generation, now=now),
        blocking=answer.blocking,
        replicas=answer.replicas,
        inference_sets=answer.inference_sets,
        not_judged=answer.not_judged,
        package_revision=answer.package.revision if answer.package is not None else "",
    )
    # As a client reads it: lists and texts, where to_builtins has tuples.
    rendered: Json = msgspec.json.decode(msgspec.json.encode(status))
    return rendered


def share_values(desired: DesiredStatus, held: Mapping[str, Any]) -> DesiredStatus:
    """Return an equal one with the same values in memory as the status that the object has."""
    if desired.status is None:
        return desired
    found = {
        key: same if (same := held.get(key)) == value else value
        for key, value in desired.status.items()
    }
    return desired._replace(status=found)


# ---------------------------------------------------------------- writes


def is_outdated(found: StatusObject, desired: Json) -> bool:
    """
    Return whether the status in the cluster differs from the *desired* one, times of evaluation aside.
    """
    held = found.status or {}
    return {key: each for key, each in held.items() if key not in VOLATILE} != desired


def change_due_at(found: StatusObject, desired: Json, *, now: datetime) -> datetime:
    """
    Return when an outdated status is to be written: now, or later if only its messages differ.

    Messages have numbers that change often, such as those of restarts.
    """
    last = parse_zoned_time((found.status or {}).get(EVALUATION_TIME))
    if last is None or _without_texts(found.status or {}) != _without_texts(desired):
        return now
    return min(last, now) + TEXT_INTERVAL


def _without_texts(status: Mapping[str, Any]) -> Json:
    """Return a status without its messages and the time of its evaluation."""
    rest = {key: value for key, value in status.items() if key not in VOLATILE}
    for key in ("blocking", "conditions"):
        if key in rest:
            rest[key] = _drop_messages(rest[key])
    return rest


def _drop_messages(value: Any) -> Any:
    if isinstance(value, list):
        return [_drop_messages(each) for each in value]
    if isinstance(value, dict):
        return {key: each for key, each in value.items() if key != "message"}
    return value


def evaluation_interval(objects: int, *, spacing: timedelta = RENEWAL_SPACING) -> timedelta:
    """
    Return how often lastEvaluationTime is renewed: each five minutes, or less often for many *objects*.

    *spacing*: the mean time between two such writes, of whatever object.
    """
    return max(LEAST_INTERVAL, objects * spacing)


def renewal_due_at(
    found: StatusObject,
    interval: timedelta,
    *,
    evaluated_at: datetime | None,
    now: datetime,
) -> datetime:
    """
    Return when the time of the evaluation is to be renewed; a time of the future counts as none.

    It is due LEAST_INTERVAL before the status expires at the latest, as a status that was written while
    there were fewer objects has a shorter *interval*. Without an evaluation since there is nothing to
    renew: the result is then RENEWAL_RECHECK from *now* or later.
    """
    last = parse_zoned_time((found.status or {}).get(EVALUATION_TIME))
    if last is None or last > now + interval:
        last = now - interval
    if evaluated_at is None or evaluated_at.replace(microsecond=0) <= last:
        return max(last + interval, now + RENEWAL_RECHECK)
    expires_at = parse_zoned_time((found.status or {}).get(EXPIRATION_TIME))
    due_at = last + interval
    return due_at if expires_at is None else min(due_at, expires_at - LEAST_INTERVAL)


def make_patch(
    found: StatusObject,
    desired: Json,
    *,
    evaluated_at: datetime | None,
    interval: timedelta = LEAST_INTERVAL,
    stands: timedelta = timedelta(0),
    reported: float | None = None,
) -> Json:
    """
    Return the JSON merge patch (RFC 7386), which the API server refuses for another resourceVersion.

    *evaluated_at*, *reported*: None leaves the time as it is. The status expires after
    INTERVALS_UNTIL_EXPIRY renewals, which are *interval* apart, or later: *stands* is how long it remains
    right without a new evaluation.
    """
    before = found.status or {}
    after = {key: before[key] for key in sorted(VOLATILE & before.keys())} | desired
    if evaluated_at is not None:
        evaluated_at = evaluated_at.replace(microsecond=0)
        after[EVALUATION_TIME] = msgspec.to_builtins(evaluated_at)
        # Twice, as a process that begins lets the status stand once more.
        lifetime = max(INTERVALS_UNTIL_EXPIRY * interval, 2 * stands + interval)
        expires_at = (evaluated_at + lifetime).replace(microsecond=0)
        after[EXPIRATION_TIME] = msgspec.to_builtins(expires_at)
    if reported is not None:
        after[REPORTED_TIME] = reported
    return {
        "metadata": {"resourceVersion": found.metadata.resource_version},
        "status": merge_patch(before, after),
    }


def merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """Return the merge patch that makes *after* of *before*. Lists are replaced as a whole."""
    patch: Json = dict.fromkeys(sorted(before.keys() - after.keys()))
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            inner = merge_patch(old, value)
            if inner:
                patch[key] = inner
        elif key not in before or value != old:
            patch[key] = value
    return patch
