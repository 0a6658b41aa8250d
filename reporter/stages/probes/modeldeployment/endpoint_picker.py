"""
Probe for an InferenceSet whose endpoint picker does not work, so that its pool refuses requests.

With leader election only the leader is Ready (llm-d-router: the other replicas' health checks fail on
purpose). Beside a Ready replica, only the hard error of another one is therefore trouble.
"""

from collections.abc import Iterable, Sequence

from reporter.model.catalogue.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.keys import inference_set_key, workload_key
from reporter.model.kinds.base.ownership import ENDPOINT_PICKER_SUFFIX
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.nodes import NODES
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS, InferencePool
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.subjects import Subject
from reporter.model.verdicts import Verdict
from reporter.stages.probes.probe import NoParameters, Probe, ProbeRequest
from reporter.stages.resources.check_result import CheckResult, limit_to, to_verdict
from reporter.stages.resources.existence import absence_of, exclude_deleting
from reporter.stages.resources.gateway.routes import find_pools, find_routes
from reporter.stages.resources.kaito.inference_sets import get_inference_set
from reporter.stages.resources.workloads.deployments import (
    DEPLOYMENT_CODES,
    deployment_ref,
    evaluate_deployment,
    missing_deployment_trouble,
)
from reporter.stages.resources.workloads.lost_nodes import with_lost_nodes
from reporter.stages.resources.workloads.pod_problems import find_pod_problems
from reporter.stages.resources.workloads.pods import filter_active_pods
from reporter.stages.resources.workloads.rollouts import replica_failure
from reporter.stages.snapshot.snapshot import Snapshot


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    return [to_verdict(snapshot, request.key(), _check_pickers(snapshot, request.subject))]


def _check_pickers(snapshot: Snapshot, subject: Subject) -> Iterable[CheckResult | None]:
    if get_inference_set(snapshot, subject) is None:
        return []
    # Following the routes costs more, and finds only pools that a chart named differently.
    pools = exclude_deleting(
        find_pools(snapshot, subject, ())
        or find_pools(snapshot, subject, find_routes(snapshot, subject))
    )
    names = sorted({name for name in map(_picker_name, pools) if name})
    default = f"{subject.name}{ENDPOINT_PICKER_SUFFIX}"
    return [
        _check_picker(snapshot, subject, name, is_referenced=bool(names))
        for name in names or [default]
    ]


def _picker_name(pool: InferencePool) -> str:
    """
    Return the Service in a pool's endpointPickerRef, empty if the pool has none.

    The chart gives the Service the name of its Deployment.
    """
    picker = pool.spec.endpoint_picker_ref
    return picker.name if picker is not None else ""


def _check_picker(
    snapshot: Snapshot, subject: Subject, name: str, *, is_referenced: bool
) -> CheckResult | None:
    """
    Check one endpoint picker.

    *is_referenced*: a pool refers to it. An InferenceSet may be deployed without pool and picker.
    """
    deployment = _find_deployment(snapshot, subject, name)
    if deployment is not None:
        result = _evaluate_replicas(snapshot, deployment)
        names = {name, deployment.metadata.name} if result is not None else set()
        return limit_to(result, *(deployment_ref(subject.namespace, each) for each in names))
    # A Service of another name may belong to a picker that is no Deployment of this chart.
    is_default = name == f"{subject.name}{ENDPOINT_PICKER_SUFFIX}"
    ref = deployment_ref(subject.namespace, name)
    was_deleted = absence_of(snapshot, ref).was_deleted
    if is_referenced and not was_deleted:
        key = inference_set_key(subject.namespace, subject.name)
        labelled = snapshot.labelled_deployments.get(key)
        if labelled is not None and absence_of(snapshot, labelled).was_deleted:
            return missing_deployment_trouble(subject.namespace, labelled.name, was_deleted=True)
    if not is_referenced or not (is_default or was_deleted):
        return None
    return missing_deployment_trouble(subject.namespace, name, was_deleted=was_deleted)


def _find_deployment(snapshot: Snapshot, subject: Subject, name: str) -> Deployment | None:
    """
    Find a picker by name, else by label, since a Service may have another name than its Deployment.

    Once a Deployment of the Service's name was there, one with the label is not the picker.
    """
    by_name = snapshot.get(DEPLOYMENTS, Deployment, subject.namespace, name)
    if by_name or absence_of(snapshot, deployment_ref(subject.namespace, name)).was_deleted:
        return by_name
    by_label = snapshot.by_index(
        DEPLOYMENTS, Deployment, inference_set_key(subject.namespace, subject.name)
    )
    return next(iter(exclude_deleting(by_label)), None)


def _evaluate_replicas(snapshot: Snapshot, picker: Deployment) -> CheckResult | None:
    """
    Evaluate a picker's Deployment; replicas that wait beside a Ready one are no trouble.
    """
    meta, status = picker.metadata, picker.status
    pods = snapshot.by_index(PODS, Pod, workload_key(meta.namespace, meta.name))
    is_current = status.observed_generation >= meta.generation
    is_serving = picker.desired_replicas and is_current and status.ready_replicas
    if is_serving and replica_failure(picker) is None and not _has_hard_error(picker, pods):
        return None
    return with_lost_nodes(evaluate_deployment(picker, pods), snapshot, pods)


def _has_hard_error(picker: Deployment, pods: Sequence[Pod]) -> bool:
    unready = [pod for pod in pods if not pod.is_ready]
    if not unready:
        return False
    problems = find_pod_problems(filter_active_pods(pods), wanted=picker.desired_replicas)
    return bool(problems) and problems[0].kind is TroubleKind.FAILED


PROBE = Probe(
    ProbeSpec(
        name="endpoint-picker",
        parameters_type=NoParameters,
        message_fields=frozenset({"object", "state", "pods"}),
        cause_codes=DEPLOYMENT_CODES,
        required_kinds=(INFERENCE_SETS, INFERENCE_POOLS, DEPLOYMENTS),
        consulted_kinds=(HTTP_ROUTES,),
        optional_kinds=(PODS, NODES, NAMESPACES),
        required_crds=lambda _: frozenset(
            {INFERENCE_SETS.group_resource, INFERENCE_POOLS.group_resource}
        ),
    ),
    evaluate,
)
