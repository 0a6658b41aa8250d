"""The result of one check: what the newest of its Jobs that has reported says."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from reporter.kinds.batch import Job
from reporter.kinds.objects import Condition, find_condition
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import human_duration, sanitize, truncate_bytes
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.probes.job_annotations import CheckSettings, read_settings
from reporter.resources.check_result import CheckResult, Inconclusive
from reporter.resources.conditions import is_condition_true, reason_text


CHECK_FAILED = "CheckFailed"
ADAPTER_REASONS, INVALID_RESULT = "Adapter", "InvalidResultFormat"
"""
Beginnings of the reasons, or the reasons, that the container beside the check gives when there is no result.
"""

CHECKS = "checks"
"""
The resource of a cause. The check is the cause, as each of its runs is a Job with another name.
"""

MAX_QUOTED_BYTES = 200
"""Limit of a quoted message in bytes, where no Event shortens it."""

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class _Running(NamedTuple):
    """The state of a Job that has not reported and has not ended."""

    settings: CheckSettings


def evaluate_check(jobs: Iterable[Job], *, now: datetime) -> CheckResult | None:
    """
    Return the result of a check, None if there is no trouble or no result yet.

    *jobs*: those of one check, in any order. While the newest runs, the one before it counts.
    """
    overdue: Inconclusive | None = None
    for job in sorted(jobs, key=_age_key, reverse=True):
        result = _result_of(job, now=now)
        if not isinstance(result, _Running):
            return result
        overdue = overdue or _check_running(job, result.settings, now=now)
    return overdue


def _age_key(job: Job) -> tuple[datetime, str]:
    return (job.metadata.creation_timestamp or LONG_AGO, job.metadata.name)


def _check_running(job: Job, settings: CheckSettings, *, now: datetime) -> Inconclusive | None:
    created = job.metadata.creation_timestamp
    if created is None or now - created <= settings.max_age:
        return None
    return _no_result(job, f"has run for more than {human_duration(settings.max_age)}")


def _result_of(job: Job, *, now: datetime) -> CheckResult | _Running | None:
    settings = read_settings(job)
    if isinstance(settings, Inconclusive):
        return settings
    condition = find_condition(job.status.conditions, settings.condition_type)
    if condition is None or condition.status not in ("True", "False"):
        return _without_result(job, settings, condition)
    if now - _reported_at(condition, job, now=now) > settings.max_age:
        age = human_duration(settings.max_age)
        return _no_result(job, f"is the newest that reported, more than {age} ago")
    if condition.status == "True":
        return None
    return _failed(job, condition)


def _without_result(
    job: Job, settings: CheckSettings, condition: Condition | None
) -> Inconclusive | _Running:
    kind = settings.condition_type
    state = f"without condition {kind}" if condition is None else f"with condition {kind} Unknown"
    failed = find_condition(job.status.conditions, "Failed")
    if failed is not None and is_condition_true(failed):
        return _no_result(job, f"failed {state} ({reason_text(failed)})")
    if is_condition_true(find_condition(job.status.conditions, "Complete")):
        return _no_result(job, f"completed {state}")
    return _Running(settings)


def _failed(job: Job, condition: Condition) -> CheckResult:
    reason = reason_text(condition)
    message = condition.message or ""
    if reason.startswith(ADAPTER_REASONS) or reason == INVALID_RESULT:
        quoted = truncate_bytes(sanitize(message), MAX_QUOTED_BYTES)
        return _no_result(job, f"reported {reason}" + (f": {quoted}" if quoted else ""))
    meta = job.metadata
    return Trouble(
        cause=Cause(ObjectRef(CHECKS, meta.namespace, job.check), CHECK_FAILED),
        kind=TroubleKind.FAILED,
        since=condition.last_transition_time,
        object_created_at=meta.creation_timestamp,
        message_fields={
            "check": job.check,
            "job": meta.name,
            "jobnamespace": meta.namespace,
            "reason": reason,
        },
        foreign_text=message,
    )


def _no_result(job: Job, state: str) -> Inconclusive:
    meta = job.metadata
    return Inconclusive(
        f"check {job.check} has no result: Job {meta.namespace}/{meta.name} {state}"
    )


def _reported_at(condition: Condition, job: Job, *, now: datetime) -> datetime:
    """Return when a result was reported; the creation of the Job if that time is not possible."""
    created = job.metadata.creation_timestamp or LONG_AGO
    written = condition.last_transition_time
    return written if written is not None and created <= written <= now else created
