"""The annotations of a check Job: which condition has its result, and how long that counts."""

import re
from datetime import timedelta
from typing import NamedTuple

from reporter.catalogue.format import parse_duration
from reporter.kinds.batch import Job
from reporter.model.sanitize import sanitize, truncate_bytes
from reporter.model.times import DURATION_PATTERN
from reporter.resources.check_result import Inconclusive


PREFIX = "reporter.productionstack.kaito.sh/"
CONDITION_TYPE = f"{PREFIX}condition-type"
MAX_AGE = f"{PREFIX}max-age"

DEFAULT_CONDITION_TYPE = "Available"
DEFAULT_MAX_AGE = timedelta(hours=24)

JOB_CONTROLLER_TYPES = frozenset(
    {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended"}
)
"""
The conditions of the Job controller (API reference, JobCondition): none is the result of a check.
"""

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_PREFIX = r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/"
_TYPE = re.compile(rf"(?:{_PREFIX})?{_NAME}")
"""The form of a condition's type (metav1.Condition)."""

MAX_QUOTED = 60
"""Limit of a quoted value in bytes."""


class CheckSettings(NamedTuple):
    condition_type: str
    max_age: timedelta


def read_settings(job: Job) -> CheckSettings | Inconclusive:
    """Return the settings of a check; for an invalid value, what to do."""
    kind = job.metadata.annotation(CONDITION_TYPE)
    kind = DEFAULT_CONDITION_TYPE if kind is None else kind
    if kind in JOB_CONTROLLER_TYPES:
        why = "that the Job controller writes; name the one that the check writes"
        return _invalid(job, CONDITION_TYPE, kind, f"names a condition {why}")
    if not _TYPE.fullmatch(kind):
        return _invalid(
            job, CONDITION_TYPE, kind, "must be the type of a condition, such as Available"
        )
    text = job.metadata.annotation(MAX_AGE)
    max_age = DEFAULT_MAX_AGE if text is None else _parse_max_age(text)
    if max_age is None:
        return _invalid(job, MAX_AGE, text or "", "must be a duration such as 24h, 90m or 1h30m")
    return CheckSettings(kind, max_age)


def _parse_max_age(text: str) -> timedelta | None:
    # A trailing newline matches $, but is no part of a duration.
    if not re.match(DURATION_PATTERN, text) or text != text.strip():
        return None
    return parse_duration(text) or None


def _invalid(job: Job, annotation: str, value: str, what_to_do: str) -> Inconclusive:
    meta, quoted = job.metadata, truncate_bytes(sanitize(value), MAX_QUOTED)
    return Inconclusive(
        f'annotation {annotation}="{quoted}" of Job {meta.namespace}/{meta.name} {what_to_do}'
    )
