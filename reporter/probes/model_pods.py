"""Probe for replicas of an InferenceSet whose model pods do not serve."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES, NODES, PODS
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES, InferenceSet
from reporter.kinds.objects import Condition, find_condition
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources.check_result import CheckResult
from reporter.resources.conditions import check_observed_generation, transition_time
from reporter.resources.inference_sets import (
    find_model_pods,
    find_workspaces,
    get_inference_set,
    pods_of_workspace,
)
from reporter.resources.lost_nodes import NODE_NOT_READY, find_lost_nodes
from reporter.resources.machines import find_workspace_error
from reporter.resources.pods import END_CODES, FAILURE_CODES
from reporter.resources.replicas import (
    DEGRADED,
    ModelReplica,
    ServingReplicas,
    blame_nodes,
    lost_nodes_of,
)
from reporter.resources.workspaces import POD_REASON_CODES, evaluate_replica
from reporter.snapshot.pod_runs import FailedPods
from reporter.snapshot.snapshot import Snapshot


INFERENCE_SET_FAILED = "inferencesetFailed"
"""
The reason of InferenceSetReady=False for an error of KAITO's own; the next reconcile overwrites it.
"""


class ModelPodsParameters(ProbeParameters, frozen=True):
    """
    The seconds for which KAITO may lack a Workspace, or state an error that it tries to get over.
    """

    workspace_seconds: Annotated[int, Meta(ge=0, le=86400)] = 180
    error_seconds: Annotated[int, Meta(ge=0, le=86400)] = 90


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Return the troubles of replicas that do not serve, and that of replicas without a Workspace.

    An InferenceSet with as many serving replicas as it asks for has none. The troubles share the extent,
    which says how many replicas serve.
    """
    subject, parameters = request.subject, request.parameters
    inference_set = get_inference_set(snapshot, subject)
    if inference_set is None:
        return []
    pods, workspaces = find_model_pods(snapshot, subject), find_workspaces(snapshot, subject)
    replicas = [ModelReplica(each, pods_of_workspace(pods, each)) for each in workspaces]
    lost = find_lost_nodes(snapshot)
    failing = [
        each for each in replicas if not each.is_serving or (lost and lost_nodes_of(each, lost))
    ]
    if not failing and len(replicas) >= inference_set.desired_replicas:
        return []
    serving = len(replicas) - len(failing)
    of_set = ServingReplicas.of(workspaces, serving, inference_set.desired_replicas)
    in_set = [
        replace(
            each,
            of_set=of_set,
            failures=_find_failures(snapshot, each),
            has_node_error=find_workspace_error(each.workspace) is not None
            or snapshot.provisioning_error(each.workspace) is not None,
        )
        for each in failing
    ]
    error_hold = timedelta(seconds=parameters.error_seconds)
    results = [blame_nodes(evaluate_replica(each, error_hold), each, lost) for each in in_set]
    missing = _missing_workspaces_trouble(inference_set, len(replicas), of_set)
    if missing is not None and missing.kind is TroubleKind.STARTING:
        missing = replace(missing, hold=timedelta(seconds=parameters.workspace_seconds))
    return [*results, missing]


def _find_failures(snapshot: Snapshot, replica: ModelReplica) -> Mapping[str, FailedPods]:
    """Return the failures of a replica's pods, also of those that do not exist at this moment."""
    meta, nodes = replica.workspace.metadata, replica.workspace.status.target_node_count
    names = [f"{meta.name}-{index}" for index in range(max(nodes, 1))]
    found = {name: snapshot.pod_failures.get((meta.namespace, name)) for name in names}
    return {name: failures for name, failures in found.items() if failures is not None}


def _missing_workspaces_trouble(
    inference_set: InferenceSet, existing: int, of_set: ServingReplicas
) -> Trouble | None:
    """
    Return the trouble of an InferenceSet with fewer Workspaces than replicas.

    KAITO creates a Workspace for each replica within seconds, so some are missing during a scale-up.
    """
    if existing >= inference_set.desired_replicas:
        return None
    meta = inference_set.metadata
    ready = find_condition(inference_set.status.conditions, "InferenceSetReady")
    not_ready = ready if ready is not None and ready.status == "False" else None
    failed = not_ready if not_ready and not_ready.reason == INFERENCE_SET_FAILED else None
    # The missing Workspaces are a fact; only why is KAITO's to say.
    if check_observed_generation(failed, meta, "InferenceSet"):
        failed = None
    return Trouble(
        cause=Cause(INFERENCE_SETS.ref_to(inference_set), of_set.cause_code("NoWorkspace")),
        kind=TroubleKind.FAILED if failed else TroubleKind.STARTING,
        is_out=of_set.is_out,
        object_created_at=meta.creation_timestamp,
        since=_missing_since(inference_set, existing, not_ready),
        message_fields={
            "object": "KAITO",
            "state": f"has made {existing}/{inference_set.desired_replicas} Workspaces",
            "pods": "",
            "extent": of_set.describe(),
        },
        foreign_text=(failed.message or "") if failed else "",
    )


def _missing_since(
    inference_set: InferenceSet, existing: int, not_ready: Condition | None
) -> datetime | None:
    """
    Return since when Workspaces are missing: the creation, if KAITO has made none and written no status.

    It writes none while an admission webhook refuses the first Workspace.
    """
    meta = inference_set.metadata
    if not_ready is not None:
        return transition_time(not_ready, meta)
    return None if existing or inference_set.status.conditions else meta.creation_timestamp


PROBE = Probe(
    ProbeSpec(
        name="model-pods",
        parameters_type=ModelPodsParameters,
        message_fields=frozenset({"extent", "object", "state", "pods"}),
        cause_codes=frozenset(
            {
                DEGRADED,
                *POD_REASON_CODES.values(),
                *END_CODES,
                *FAILURE_CODES,
                "Config",
                "NotStarted",
                "Disrupted",
                "OtherContainer",
                "NotReady",
                "AllContainersReady",
                "ContainerNotReady",
                "Lost",
                "Workspace",
                "ReconcileError",
                "NoWorkspace",
                "Missing",
                NODE_NOT_READY,
            }
        ),
        own_causes=END_CODES | {"ImagePull", "Config", "StartError"},
        required_kinds=(INFERENCE_SETS, WORKSPACES, PODS),
        optional_kinds=(NODES, NAMESPACES),
        required_crds=crds_of(INFERENCE_SETS, WORKSPACES),
        pauses_at_zero_replicas=True,
    ),
    evaluate,
)
