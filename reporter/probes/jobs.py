"""
Probe for the results of check Jobs; each check has its own finding, whose item is its name.

What a Job checks follows from its namespace and from the label of its InferenceSet.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from reporter.catalogue.entries import ProbeSpec
from reporter.catalogue.format import parse_duration
from reporter.kinds import objects
from reporter.kinds.batch import CHECK_LABEL, JOBS, Job
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.kaito import INFERENCE_SETS, InferenceSet
from reporter.kinds.objects import ApiObject, Condition, NamespacedName
from reporter.model.enums import DetailSource, Layer, TroubleKind
from reporter.model.observations import Watching
from reporter.model.sanitize import (
    MAX_QUOTED_BYTES,
    abbreviate_list,
    human_duration,
    sanitize,
    truncate_bytes,
)
from reporter.model.subjects import Subject
from reporter.model.times import DURATION_PATTERN
from reporter.model.verdicts import Active, Cause, Clear, ObjectRef, Trouble, Unknown, Verdict
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest
from reporter.resources.check_result import CheckResult, Inconclusive, involved_namespace
from reporter.resources.conditions import exclude_deleting, is_condition_true, reason_text
from reporter.snapshot.cow_map import FrozenMap
from reporter.snapshot.lookups import why_incomplete
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import is_workload_namespace


CLUSTER_NAMESPACE_FLAG = "release-namespace"
"""The flag with the namespace whose checks are about the cluster."""


class CheckJobsParameters(ProbeParameters, frozen=True):
    """
    The parameters of the probe for check Jobs.

    *of_inference_sets*: the reason is about InferenceSets, so without their CRD it has no subject.
    """

    of_inference_sets: bool = False


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """
    Yield a verdict for each name of a check, and one without an item for the Jobs as a whole.

    The last one is Unknown if a Job's check label is empty. Otherwise it is Clear, with advice about
    check Jobs that nobody evaluates.
    """
    by_name: defaultdict[str, list[Job]] = defaultdict(list)
    for job in exclude_deleting(_jobs_of_subject(snapshot, request)):
        by_name[job.check].append(job)
    unnamed = by_name.pop("", [])
    for name in sorted(by_name):
        yield _evaluate_check(snapshot, request, name, by_name[name])
    if unnamed:
        meta = unnamed[0].metadata
        why = f"label {CHECK_LABEL} of Job {meta.namespace}/{meta.name} is empty"
        yield Unknown(request.key(), f"{why}; set it to the name of the check")
    else:
        yield Clear(request.key(), tuple(_notes(snapshot, request)))


def _jobs_of_subject(snapshot: Snapshot, request: ProbeRequest) -> Sequence[Job]:
    subject, cluster_namespace = request.subject, request.flags[CLUSTER_NAMESPACE_FLAG]
    match subject.layer:
        case Layer.CLUSTER:
            return _without_set(snapshot, cluster_namespace)
        case Layer.MODELHARNESS if subject.namespace == cluster_namespace:
            return ()
        case Layer.MODELHARNESS:
            return _without_set(snapshot, subject.namespace)
        case Layer.MODELDEPLOYMENT:
            key = objects.inference_set_key(subject.namespace, subject.name)
            return snapshot.by_index(JOBS, Job, key)


def _without_set(snapshot: Snapshot, namespace: str) -> Sequence[Job]:
    """Return the Jobs of a namespace that check no InferenceSet."""
    jobs = snapshot.by_index(JOBS, Job, objects.namespace_key(namespace))
    return [job for job in jobs if not job.inference_set]


def _evaluate_check(
    snapshot: Snapshot, request: ProbeRequest, name: str, jobs: Sequence[Job]
) -> Verdict:
    key, namespace = request.key(name), jobs[0].metadata.namespace
    result = check_limit(snapshot, namespace, name) or evaluate_check(jobs, now=request.now)
    if result is None:
        return Clear(key)
    if isinstance(result, Trouble):
        return Active(key, (result,), involved_namespace(snapshot, namespace))
    return Unknown(key, result.why)


# ---------------------------------------------------------------- Jobs of no subject


def _notes(snapshot: Snapshot, request: ProbeRequest) -> Iterator[str]:
    """Yield advice about check Jobs that nobody evaluates."""
    if request.subject.layer is Layer.MODELHARNESS:
        yield from _missing_sets(snapshot, request)
    if request.subject.layer is not Layer.CLUSTER or snapshot.why_not_synced(NAMESPACES):
        return
    cluster_namespace = request.flags[CLUSTER_NAMESPACE_FLAG]
    others = names_by_namespace(snapshot).keys() - {cluster_namespace}
    elsewhere = [each for each in others if not _is_workload_namespace(snapshot, each)]
    if elsewhere:
        what = "are neither workload namespaces nor that of --release-namespace"
        yield f"check Jobs in {abbreviate_list(elsewhere)} are not evaluated: these {what}"
    if not _is_workload_namespace(snapshot, cluster_namespace):
        jobs = snapshot.by_index(JOBS, Job, objects.namespace_key(cluster_namespace))
        sets = {job.inference_set for job in jobs if job.inference_set}
        if sets:
            what = f"but {cluster_namespace} is no workload namespace"
            yield f"check Jobs name InferenceSets ({abbreviate_list([*sets])}), {what}"


def _missing_sets(snapshot: Snapshot, request: ProbeRequest) -> Iterator[str]:
    namespace = request.subject.namespace
    if not snapshot.has_synced(INFERENCE_SETS):
        return
    jobs = snapshot.by_index(JOBS, Job, objects.namespace_key(namespace))
    names = {job.inference_set for job in jobs if job.inference_set}
    missing = [
        name
        for name in names
        if snapshot.peek(INFERENCE_SETS, InferenceSet, namespace, name) is None
    ]
    if missing and not why_incomplete(snapshot, INFERENCE_SETS, namespace, now=request.now):
        what = f"name InferenceSets that do not exist ({abbreviate_list(missing)})"
        yield f"check Jobs in {namespace} {what}: correct their labels, or delete them"


def _is_workload_namespace(snapshot: Snapshot, name: str) -> bool:
    namespace = snapshot.peek(NAMESPACES, Namespace, "", name)
    return namespace is not None and is_workload_namespace(snapshot, namespace)


# --------------------------------------------------------------------
# The checks that are evaluated when there are very many: each name of a check may have Events.


MAX_NAMES = 200
MAX_NAMES_OF_NAMESPACE = 20


def names_by_namespace(snapshot: Snapshot) -> Mapping[str, frozenset[str]]:
    """
    Return the names of the checks that are evaluated, by namespace, for each that has a check.

    They are the first in the order of names. One name counts once, for however many InferenceSets.
    """
    return snapshot.tables[JOBS.resource].objects.derive(_limit_names)


def _limit_names(jobs: FrozenMap[NamespacedName, ApiObject]) -> Mapping[str, frozenset[str]]:
    names: defaultdict[str, set[str]] = defaultdict(set)
    for job in jobs.values():
        if isinstance(job, Job):
            names[job.metadata.namespace].add(job.check)
    first = {where: sorted(each)[:MAX_NAMES_OF_NAMESPACE] for where, each in names.items()}
    everywhere = sorted({name for each in first.values() for name in each})[:MAX_NAMES]
    return {where: frozenset(each).intersection(everywhere) for where, each in first.items()}


def check_limit(snapshot: Snapshot, namespace: str, name: str) -> Inconclusive | None:
    """Return an inconclusive result for a check beyond the limits of names; None within them."""
    if name in names_by_namespace(snapshot).get(namespace, frozenset()):
        return None
    return Inconclusive(
        f"check {name} is beyond the limit of {MAX_NAMES_OF_NAMESPACE} names of checks in a"
        f" namespace and {MAX_NAMES} in the cluster, of which the first in their order are"
        " evaluated; use fewer names, or one name for several InferenceSets"
    )


# --------------------------------------------------------------------
# The answers that checks got of a model through its Gateway.


def find_answer_time(snapshot: Snapshot, subject: Subject, *, now: datetime) -> datetime | None:
    """
    Return when a check last got an answer of an InferenceSet through its Gateway; None if none counts.
    """
    table = snapshot.tables.get(JOBS.resource)
    if table is None or subject.kind or not isinstance(table.watch_state, Watching):
        return None
    key = objects.inference_set_key(subject.namespace, subject.name)
    jobs = filter(asks_model, exclude_deleting(snapshot.by_index(JOBS, Job, key)))
    times = (_answered_at(job, now=now) for job in jobs)
    return max(filter(None, times), default=None)


def _answered_at(job: Job, *, now: datetime) -> datetime | None:
    settings = read_settings(job)
    if isinstance(settings, Inconclusive):
        return None
    condition = objects.find_condition(job.status.conditions, settings.condition_type)
    if condition is None or condition.status != "True":
        return None
    at = _reported_at(job, condition, now=now)
    return at if now - at <= settings.max_age else None


def asks_model(job: Job) -> bool:
    """Return whether the check asks the model of its InferenceSet, as a user would, through its Gateway."""
    return bool(job.inference_set) and job.metadata.annotation(ASKS_MODEL) == "true"


# --------------------------------------------------------------------
# The annotations of a check Job: which condition has its result, and how long that counts.


ANNOTATION_PREFIX = "reporter.productionstack.kaito.sh/"
CONDITION_TYPE = f"{ANNOTATION_PREFIX}condition-type"
MAX_AGE = f"{ANNOTATION_PREFIX}max-age"
ASKS_MODEL = f"{ANNOTATION_PREFIX}asks-model"
"""The annotation of a check that sends the model a request through its Gateway; its value is true."""

DEFAULT_CONDITION_TYPE = "Available"
DEFAULT_MAX_AGE = timedelta(hours=24)

JOB_CONTROLLER_TYPES = frozenset(
    {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended"}
)
"""
The conditions of the Job controller (API reference, JobCondition): none is the result of a check.
"""

_TYPE_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_TYPE_PREFIX = r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/"
_TYPE = re.compile(rf"(?:{_TYPE_PREFIX})?{_TYPE_NAME}")
"""The form of a condition's type (metav1.Condition)."""

MAX_VALUE_BYTES = 60
"""Limit of a quoted value in bytes."""


class CheckSettings(NamedTuple):
    """
    The settings that a check Job's annotations give.

    *condition_type*: the type of the Job's condition with the result. *max_age*: how long a result
    counts.
    """

    condition_type: str
    max_age: timedelta


def read_settings(job: Job) -> CheckSettings | Inconclusive:
    """
    Return the settings of a check from its Job's annotations, or the defaults.

    A value that is not valid gives an inconclusive result, which says what to correct.
    """
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
    max_age: timedelta | None = DEFAULT_MAX_AGE
    if text is not None:
        # A trailing newline matches $, but is no part of a duration.
        is_duration = re.match(DURATION_PATTERN, text) and text == text.strip()
        max_age = parse_duration(text) or None if is_duration else None
    if max_age is None:
        return _invalid(job, MAX_AGE, text or "", "must be a duration such as 24h, 90m or 1h30m")
    return CheckSettings(kind, max_age)


def _invalid(job: Job, annotation: str, value: str, what_to_do: str) -> Inconclusive:
    meta, quoted = job.metadata, truncate_bytes(sanitize(value), MAX_VALUE_BYTES)
    return Inconclusive(
        f'annotation {annotation}="{quoted}" of Job {meta.namespace}/{meta.name} {what_to_do}'
    )


# --------------------------------------------------------------------
# The result of one check: what the newest of its Jobs that has reported says.


CHECK_FAILED = "CheckFailed"
ADAPTER_REASONS, INVALID_RESULT = "Adapter", "InvalidResultFormat"
"""
The reasons that the sidecar of a check gives when there is no result; of the first only the beginning.
"""

CHECKS = "checks"
"""
The resource of a cause. The check is the cause, as each of its runs is a Job with another name.
"""

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
        created, max_age = job.metadata.creation_timestamp, result.settings.max_age
        if overdue is None and created is not None and now - created > max_age:
            overdue = _no_result(job, f"has run for more than {human_duration(max_age)}")
    return overdue


def _age_key(job: Job) -> tuple[datetime, str]:
    return (job.metadata.creation_timestamp or LONG_AGO, job.metadata.name)


def _result_of(job: Job, *, now: datetime) -> CheckResult | _Running | None:
    settings = read_settings(job)
    if isinstance(settings, Inconclusive):
        return settings
    condition = objects.find_condition(job.status.conditions, settings.condition_type)
    if condition is None or condition.status not in ("True", "False"):
        return _without_result(job, settings, condition)
    reported_at = _reported_at(job, condition, now=now)
    if now - reported_at > settings.max_age:
        age = human_duration(settings.max_age)
        return _no_result(job, f"is the newest that reported, more than {age} ago")
    if condition.status == "True":
        return None
    return _reported_failure(job, condition)


def _reported_at(job: Job, condition: Condition, *, now: datetime) -> datetime:
    """Return when a result was reported; the time of the Job's creation if that is not possible."""
    created, written = job.metadata.creation_timestamp or LONG_AGO, condition.last_transition_time
    is_possible = written is not None and created <= written <= now
    return written if written is not None and is_possible else created


def _without_result(
    job: Job, settings: CheckSettings, condition: Condition | None
) -> Inconclusive | _Running:
    kind = settings.condition_type
    state = f"without condition {kind}" if condition is None else f"with condition {kind} Unknown"
    failed = objects.find_condition(job.status.conditions, "Failed")
    if failed is not None and is_condition_true(failed):
        return _no_result(job, f"failed {state} ({reason_text(failed)})")
    if is_condition_true(objects.find_condition(job.status.conditions, "Complete")):
        return _no_result(job, f"completed {state}")
    return _Running(settings)


def _reported_failure(job: Job, condition: Condition) -> CheckResult:
    reason = reason_text(condition)
    message = condition.message or ""
    if reason.startswith(ADAPTER_REASONS) or reason == INVALID_RESULT:
        quoted = truncate_bytes(sanitize(message), MAX_QUOTED_BYTES)
        return _no_result(job, f"reported {reason}" + (f": {quoted}" if quoted else ""))
    meta = job.metadata
    return Trouble(
        cause=Cause(ObjectRef(CHECKS, meta.namespace, job.check), CHECK_FAILED),
        kind=TroubleKind.FAILED,
        is_out=asks_model(job),
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


PROBE = Probe(
    ProbeSpec(
        name="check-jobs",
        parameters_type=CheckJobsParameters,
        message_fields=frozenset({"check", "job", "jobnamespace", "reason"}),
        cause_codes=frozenset({CHECK_FAILED}),
        required_kinds=(JOBS,),
        optional_kinds=(NAMESPACES, INFERENCE_SETS),
        required_crds=lambda parameters: frozenset(
            {INFERENCE_SETS.group_resource} if parameters.of_inference_sets else ()
        ),
        pauses_at_zero_replicas=True,
        source=DetailSource.JOBS,
    ),
    evaluate,
)
