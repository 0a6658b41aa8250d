"""
Whether the endpoint picker of an InferenceSet works: without it, its InferencePool refuses requests.

Where several elect a leader, only that one is ever Ready, so one suffices (llm-d-router).
"""

from collections.abc import Iterable

from reporter.model.entries import ProbeSpec
from reporter.model.kinds.base.keys import inference_set_key, workload_key
from reporter.model.kinds.base.ownership import ENDPOINT_PICKER_SUFFIX
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS, InferencePool
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.subjects import Subject
from reporter.model.verdicts import Verdict
from reporter.stages.probes.probe import NoParameters, Probe, ProbeRequest
from reporter.stages.resources.check_result import CheckResult, check_decoded, to_verdict
from reporter.stages.resources.gateway.routes import exclude_deleting, find_pools, find_routes
from reporter.stages.resources.kaito.inference_sets import check_all_decoded, get_inference_set
from reporter.stages.resources.workloads.deployments import (
    DEPLOYMENT_CODES,
    deployment_ref,
    evaluate_deployment,
    missing_deployment_trouble,
)
from reporter.stages.snapshot.snapshot import Snapshot


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    yield to_verdict(snapshot, question.key(), _find_troubles(snapshot, question.subject))


def _find_troubles(snapshot: Snapshot, subject: Subject) -> Iterable[CheckResult | None]:
    if get_inference_set(snapshot, subject) is None:
        return []
    found = exclude_deleting(
        find_pools(snapshot, subject, ())
        or find_pools(snapshot, subject, find_routes(snapshot, subject))
    )
    late = check_all_decoded(snapshot, INFERENCE_POOLS, subject, found)
    if late:
        return [late]
    named = sorted({each for each in map(_picker_name, found) if each})
    usual = f"{subject.name}{ENDPOINT_PICKER_SUFFIX}"
    return [
        _evaluate_picker(snapshot, subject, name, wanted=bool(named)) for name in named or [usual]
    ]


def _picker_name(pool: InferencePool) -> str:
    """
    The Service that it asks, which has its Deployment's name; empty for a pool without one.
    """
    picker = pool.spec.endpoint_picker_ref
    return picker.name if picker is not None else ""


def _evaluate_picker(
    snapshot: Snapshot, subject: Subject, name: str, *, wanted: bool
) -> CheckResult | None:
    """
    *wanted*: whether a pool asks it. A set may be deployed without any, to be reached otherwise.
    """
    late = check_decoded(snapshot, DEPLOYMENTS, subject.namespace, name)
    if late:
        return late
    found = _find_deployment(snapshot, subject, name)
    if found is not None:
        return _evaluate_replicas(snapshot, found)
    usual = name == f"{subject.name}{ENDPOINT_PICKER_SUFFIX}"
    seen = deployment_ref(subject.namespace, name) in snapshot.deleted_uids
    if not wanted or not (usual or seen):
        return None
    return missing_deployment_trouble(subject.namespace, name, seen=seen)


def _find_deployment(snapshot: Snapshot, subject: Subject, name: str) -> Deployment | None:
    """
    By name, else the one that the chart labelled: a Service may be named otherwise.
    """
    found = snapshot.get(DEPLOYMENTS, Deployment, subject.namespace, name)
    labelled = snapshot.by_index(
        DEPLOYMENTS, Deployment, inference_set_key(subject.namespace, subject.name)
    )
    return found or next(iter(exclude_deleting(labelled)), None)


def _evaluate_replicas(snapshot: Snapshot, picker: Deployment) -> CheckResult | None:
    meta, status = picker.metadata, picker.status
    current = status.observed_generation >= meta.generation
    if picker.desired_replicas and current and status.ready_replicas:
        return None
    return evaluate_deployment(
        picker, snapshot.by_index(PODS, Pod, workload_key(meta.namespace, meta.name))
    )


PROBE = Probe(
    ProbeSpec(
        name="endpoint-picker",
        parameters_type=NoParameters,
        message_fields=frozenset({"object", "state", "pods"}),
        cause_codes=DEPLOYMENT_CODES,
        required_kinds=(INFERENCE_SETS, INFERENCE_POOLS, DEPLOYMENTS),
        optional_kinds=(HTTP_ROUTES, PODS, NAMESPACES),
        required_crds=lambda _: frozenset(
            {INFERENCE_SETS.group_resource, INFERENCE_POOLS.group_resource}
        ),
    ),
    evaluate,
)
