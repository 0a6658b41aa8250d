"""
Probe for an InferenceSet whose endpoint picker does not work, so that its pool refuses requests.

With leader election only the leader is Ready (llm-d-router: the other replicas' health checks fail on
purpose). Beside a Ready replica, only the hard error of another one is therefore trouble.
"""

from collections.abc import Iterable, Sequence

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.core import NAMESPACES, NODES, PODS, Pod
from reporter.kinds.gateway_api import HTTP_ROUTES, INFERENCE_POOLS
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.objects import ENDPOINT_PICKER_SUFFIX, inference_set_key, workload_key
from reporter.model.enums import TroubleKind
from reporter.model.subjects import Subject
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources.check_result import CheckResult, limit_to
from reporter.resources.conditions import absence_of, exclude_deleting
from reporter.resources.deployments import (
    DEPLOYMENT_CODES,
    evaluate_deployment,
    missing_deployment_trouble,
    replica_failure,
)
from reporter.resources.inference_sets import get_inference_set
from reporter.resources.lost_nodes import with_lost_nodes
from reporter.resources.pods import filter_active_pods, find_pod_problems
from reporter.resources.routes import find_deleted_parts, find_pools, find_routes, pool_backends
from reporter.snapshot.snapshot import Snapshot


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Return the results of the picker Deployments to which the InferencePools of an InferenceSet refer.

    Without such a reference, the Deployment by the chart's name counts, or one that was deleted along
    with its pool. An InferenceSet that does not exist has no results.
    """
    subject = request.subject
    if get_inference_set(snapshot, subject) is None:
        return []
    # Following the routes costs more, and finds only pools that a chart named differently.
    pools = exclude_deleting(
        find_pools(snapshot, subject, ())
        or find_pools(snapshot, subject, find_routes(snapshot, subject))
    )
    # The chart gives the Service of a picker the name of its Deployment.
    pickers = (pool.spec.endpoint_picker_ref for pool in pools)
    names = sorted({picker.name for picker in pickers if picker is not None and picker.name})
    if names:
        return [_check_picker(snapshot, subject, name) for name in names]
    default = f"{subject.name}{ENDPOINT_PICKER_SUFFIX}"
    unused = _find_deployment(snapshot, subject, default)
    if unused is None:
        return [None if pools else _deleted_with_pool_trouble(snapshot, subject, default)]
    return [_evaluate_picker(snapshot, subject, default, unused)]


def _check_picker(snapshot: Snapshot, subject: Subject, name: str) -> CheckResult | None:
    """Check an endpoint picker that a pool refers to."""
    deployment = _find_deployment(snapshot, subject, name)
    if deployment is not None:
        return _evaluate_picker(snapshot, subject, name, deployment)
    # A Service of another name may belong to a picker that is no Deployment of this chart.
    default = f"{subject.name}{ENDPOINT_PICKER_SUFFIX}"
    was_deleted = absence_of(snapshot, DEPLOYMENTS.ref(subject.namespace, name)).was_deleted
    labelled = [
        ref for ref in find_deleted_parts(snapshot, subject, DEPLOYMENTS) if ref.name != default
    ]
    if labelled and not was_deleted:
        return missing_deployment_trouble(subject.namespace, labelled[-1].name, was_deleted=True)
    if name != default and not was_deleted:
        return None
    return missing_deployment_trouble(subject.namespace, name, was_deleted=was_deleted)


def _deleted_with_pool_trouble(
    snapshot: Snapshot, subject: Subject, default: str
) -> CheckResult | None:
    """
    Return the trouble of a picker that was deleted together with what referred to it.

    An InferenceSet that never had one, or whose routes lead elsewhere by now, needs none.
    """
    routes = exclude_deleting(find_routes(snapshot, subject))
    if routes and not any(map(pool_backends, routes)):
        return None
    deleted = find_deleted_parts(snapshot, subject, DEPLOYMENTS)
    had_pool = bool(find_deleted_parts(snapshot, subject, INFERENCE_POOLS))
    pickers = [ref for ref in deleted if had_pool or ref.name == default]
    if not pickers:
        return None
    ref = DEPLOYMENTS.ref(subject.namespace, default)
    name = default if ref in pickers else pickers[-1].name
    return missing_deployment_trouble(subject.namespace, name, was_deleted=True)


def _find_deployment(snapshot: Snapshot, subject: Subject, name: str) -> Deployment | None:
    """
    Find a picker by name, else by label, since a Service may have another name than its Deployment.

    Once a Deployment of the Service's name was there, one with the label is not the picker.
    """
    by_name = snapshot.get(DEPLOYMENTS, Deployment, subject.namespace, name)
    if by_name or absence_of(snapshot, DEPLOYMENTS.ref(subject.namespace, name)).was_deleted:
        return by_name
    by_label = snapshot.by_index(
        DEPLOYMENTS, Deployment, inference_set_key(subject.namespace, subject.name)
    )
    return next(iter(exclude_deleting(by_label)), None)


def _evaluate_picker(
    snapshot: Snapshot, subject: Subject, name: str, picker: Deployment
) -> CheckResult | None:
    """
    Evaluate a Deployment that was found by *name* or by its label.

    Replicas that wait beside a Ready one are no trouble.
    """
    meta, status = picker.metadata, picker.status
    pods = snapshot.by_index(PODS, Pod, workload_key(meta.namespace, meta.name))
    is_current = status.observed_generation >= meta.generation
    is_serving = picker.desired_replicas and is_current and status.ready_replicas
    if is_serving and replica_failure(picker) is None and not _has_hard_error(picker, pods):
        return None
    result = with_lost_nodes(evaluate_deployment(picker, pods), snapshot, pods)
    names = {name, meta.name} if result is not None else set()
    return limit_to(result, *(DEPLOYMENTS.ref(subject.namespace, each) for each in names))


def _has_hard_error(picker: Deployment, pods: Sequence[Pod]) -> bool:
    unready = [pod for pod in pods if not pod.is_ready]
    if not unready:
        return False
    problems = find_pod_problems(filter_active_pods(pods), desired=picker.desired_replicas)
    return bool(problems) and problems[0].kind is TroubleKind.FAILED


PROBE = Probe(
    ProbeSpec(
        name="endpoint-picker",
        parameters_type=ProbeParameters,
        message_fields=frozenset({"object", "state", "pods"}),
        cause_codes=DEPLOYMENT_CODES,
        required_kinds=(INFERENCE_SETS, INFERENCE_POOLS, DEPLOYMENTS),
        consulted_kinds=(HTTP_ROUTES,),
        optional_kinds=(PODS, NODES, NAMESPACES),
        required_crds=crds_of(INFERENCE_SETS, INFERENCE_POOLS),
    ),
    evaluate,
)
