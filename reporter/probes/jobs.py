"""
Probe for the results of check Jobs; each check has its own finding, whose item is its name.

What a Job checks follows from its namespace and from the label of its InferenceSet.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.batch import CHECK_LABEL, JOBS, Job
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.kaito import INFERENCE_SETS, InferenceSet
from reporter.kinds.objects import inference_set_key, namespace_key
from reporter.model.enums import DetailSource, Layer
from reporter.model.sanitize import abbreviate_list
from reporter.model.verdicts import Active, Clear, Trouble, Unknown, Verdict
from reporter.probes.job_limits import check_limit, names_by_namespace
from reporter.probes.job_results import CHECK_FAILED, evaluate_check
from reporter.probes.probe import Probe, ProbeRequest
from reporter.resources.check_result import involved_namespace
from reporter.resources.conditions import exclude_deleting
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import is_workload_namespace


CLUSTER_NAMESPACE_FLAG = "release-namespace"
"""The flag with the namespace whose checks are about the cluster."""


class CheckJobsParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *of_inference_sets*: the reason is about InferenceSets, so without their CRD it has no subject.
    """

    of_inference_sets: bool = False


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
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
            key = inference_set_key(subject.namespace, subject.name)
            return snapshot.by_index(JOBS, Job, key)


def _without_set(snapshot: Snapshot, namespace: str) -> Sequence[Job]:
    """Return the Jobs of a namespace that check no InferenceSet."""
    jobs = snapshot.by_index(JOBS, Job, namespace_key(namespace))
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
        yield from _missing_sets(snapshot, request.subject.namespace)
    if request.subject.layer is not Layer.CLUSTER or snapshot.why_not_synced(NAMESPACES):
        return
    cluster_namespace = request.flags[CLUSTER_NAMESPACE_FLAG]
    others = names_by_namespace(snapshot).keys() - {cluster_namespace}
    elsewhere = [each for each in others if not _is_workload_namespace(snapshot, each)]
    if elsewhere:
        what = "are neither workload namespaces nor that of --release-namespace"
        yield f"check Jobs in {abbreviate_list(elsewhere)} are not evaluated: these {what}"
    if not _is_workload_namespace(snapshot, cluster_namespace):
        jobs = snapshot.by_index(JOBS, Job, namespace_key(cluster_namespace))
        sets = {job.inference_set for job in jobs if job.inference_set}
        if sets:
            what = f"but {cluster_namespace} is no workload namespace"
            yield f"check Jobs name InferenceSets ({abbreviate_list([*sets])}), {what}"


def _missing_sets(snapshot: Snapshot, namespace: str) -> Iterator[str]:
    if not snapshot.has_synced(INFERENCE_SETS):
        return
    jobs = snapshot.by_index(JOBS, Job, namespace_key(namespace))
    names = {job.inference_set for job in jobs if job.inference_set}
    missing = [
        name
        for name in names
        if snapshot.peek(INFERENCE_SETS, InferenceSet, namespace, name) is None
    ]
    if missing:
        what = f"name InferenceSets that do not exist ({abbreviate_list(missing)})"
        yield f"check Jobs in {namespace} {what}: correct their labels, or delete them"


def _is_workload_namespace(snapshot: Snapshot, name: str) -> bool:
    namespace = snapshot.peek(NAMESPACES, Namespace, "", name)
    return namespace is not None and is_workload_namespace(snapshot, namespace)


def _required_crds(parameters: CheckJobsParameters) -> frozenset[str]:
    return frozenset({INFERENCE_SETS.group_resource} if parameters.of_inference_sets else ())


PROBE = Probe(
    ProbeSpec(
        name="check-jobs",
        parameters_type=CheckJobsParameters,
        message_fields=frozenset({"check", "job", "jobnamespace", "reason"}),
        cause_codes=frozenset({CHECK_FAILED}),
        required_kinds=(JOBS,),
        optional_kinds=(NAMESPACES, INFERENCE_SETS),
        required_crds=_required_crds,
        pauses_at_zero_replicas=True,
        source=DetailSource.JOBS,
    ),
    evaluate,
)
