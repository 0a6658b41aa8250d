"""
Probe for model pods that are Ready, but whose containers restart again and again.

A pod that is not Ready is the subject of another reason. Between two crashes it serves for a while, so
that one ends, and nobody sees that requests are lost with each crash.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds import core
from reporter.kinds.core import ContainerStatus, Pod
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES, Workspace
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import human_duration, sanitize, truncate_bytes
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import inference_sets
from reporter.resources.check_result import CheckResult, Inconclusive
from reporter.resources.conditions import MAX_REASON_BYTES
from reporter.resources.pods import END_CODES, created_at, end_code, is_leftover_pod
from reporter.resources.replicas import is_rolling_out, upgrade_started_at
from reporter.resources.restarts import RestartCount, count_restarts
from reporter.snapshot.pod_runs import MAX_RESTARTS
from reporter.snapshot.snapshot import Snapshot


OTHER_CONTAINER = "OtherContainer"


class PodRestartingParameters(ProbeParameters, frozen=True):
    """The number of restarts within so many seconds from which on it is trouble."""

    restarts: Annotated[int, Meta(ge=2, le=MAX_RESTARTS)]
    window_seconds: Annotated[int, Meta(ge=60, le=86400)]


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Return the troubles of Ready pods with a container that restarted too often within the window.

    Pods of a replica that is rolled out or upgraded count as starting, since they are replaced anyway.
    """
    subject = request.subject
    if inference_sets.get_inference_set(snapshot, subject) is None:
        return []
    pods = inference_sets.find_model_pods(snapshot, subject)
    results: list[CheckResult | None] = []
    for pod in pods:
        # An init container that has ended restarts no more; one that runs is a sidecar.
        restarted = [
            status
            for status in core.container_statuses(pod)
            if status.restart_count >= request.parameters.restarts
            and status.state.running is not None
        ]
        # Of nearly all pods none has, so that is checked first.
        if restarted and pod.is_ready and not is_leftover_pod(pod):
            results += _check_containers(snapshot, request, pod, restarted)
    if not any(isinstance(each, Trouble) for each in results):
        return results
    changing = _find_changing_pods(pods, inference_sets.find_workspaces(snapshot, subject))
    return [
        replace(each, kind=TroubleKind.STARTING)
        if isinstance(each, Trouble) and each.cause.object.name in changing
        else each
        for each in results
    ]


def _find_changing_pods(pods: Sequence[Pod], workspaces: Iterable[Workspace]) -> set[str]:
    """Return the names of the pods of replicas that are being rolled out, or upgraded in place."""
    found = set()
    for workspace in workspaces:
        of_replica = inference_sets.without_leftover_pods(
            inference_sets.pods_of_workspace(pods, workspace)
        )
        upgrade = upgrade_started_at(workspace)
        found |= {
            pod.metadata.name
            for pod in of_replica
            if is_rolling_out(of_replica) or (upgrade is not None and created_at(pod) < upgrade)
        }
    return found


def _check_containers(
    snapshot: Snapshot, request: ProbeRequest, pod: Pod, restarted: Iterable[ContainerStatus]
) -> Iterator[CheckResult]:
    """Yield the trouble of the container that restarted most often, and what is not known."""
    troubles: list[tuple[int, Trouble]] = []
    limit = request.parameters.restarts
    for status in restarted:
        count = _count(snapshot, request, pod, status)
        if count.least >= limit:
            troubles.append((count.least, _new_trouble(pod, status, count)))
        elif count.most >= limit:
            yield Inconclusive(
                f"pod {pod.metadata.name}: container {status.name} restarted"
                f" {status.restart_count} times, and when it did is not known of each"
            )
    yield from (trouble for _, trouble in sorted(troubles, key=lambda each: -each[0])[:1])


def _count(
    snapshot: Snapshot, request: ProbeRequest, pod: Pod, status: ContainerStatus
) -> RestartCount:
    """
    Count the restarts of a window that ends now, or with the last restart if there are enough now.

    So the number in a message does not shrink while nothing happens.
    """
    meta, parameters = pod.metadata, request.parameters
    history = snapshot.pod_restarts.get((meta.namespace, meta.name))
    restarts = history.by_container.get(status.name) if history is not None else None
    if restarts is None:
        return RestartCount(0, 0)

    def count_until(end: datetime) -> RestartCount:
        return count_restarts(
            restarts,
            since=end - timedelta(seconds=parameters.window_seconds),
            now=request.now,
            pod_started_at=pod.status.start_time,
        )

    found = count_until(request.now)
    if found.least < parameters.restarts or not restarts.times:
        return found
    return count_until(min(restarts.times[-1], request.now))


def _new_trouble(pod: Pod, status: ContainerStatus, count: RestartCount) -> Trouble:
    meta, ended = pod.metadata, status.last_state.terminated
    running = status.state.running
    at_least = "at least " if count.most > count.least else ""
    last = ""  # if the kubelet does not tell how the run before ended
    if ended is not None:
        reason = truncate_bytes(sanitize(ended.reason or ""), MAX_REASON_BYTES) or "ended"
        last = f", last {reason} (exit code {ended.exit_code})"
    return Trouble(
        cause=Cause(core.PODS.ref_to(pod), _cause_code(pod, status)),
        kind=TroubleKind.FAILED,
        is_crash=True,
        since=running.started_at if running is not None else None,
        object_created_at=meta.creation_timestamp,
        message_fields={
            "pod": meta.name,
            "container": status.name,
            "restarts": f"{at_least}{count.least} times in {human_duration(count.span)}",
            "last": last,
        },
        foreign_text=(ended.message or "") if ended is not None else "",
    )


def _cause_code(pod: Pod, status: ContainerStatus) -> str:
    """
    Return the code of the last end; that of a container beside the model's has two parts.

    The model's container has the Workspace's name, which is the StatefulSet's too.
    """
    code = end_code(status.last_state.terminated)
    model = pod.metadata.label(inference_sets.WORKSPACE_LABEL) or core.workload_name(pod)
    names = {each.name for each in core.container_statuses(pod)}
    is_other = model in names and status.name != model
    return f"{OTHER_CONTAINER}.{code}" if is_other else code


PROBE = Probe(
    ProbeSpec(
        name="pod-restarting",
        parameters_type=PodRestartingParameters,
        message_fields=frozenset({"pod", "container", "restarts", "last"}),
        cause_codes=END_CODES | {OTHER_CONTAINER},
        required_kinds=(INFERENCE_SETS, core.PODS),
        consulted_kinds=(WORKSPACES,),
        optional_kinds=(core.NAMESPACES,),
        required_crds=crds_of(INFERENCE_SETS),
        pauses_at_zero_replicas=True,
    ),
    evaluate,
)
