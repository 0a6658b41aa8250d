"""The problems of a replica's pods, from the pods' own status."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from reporter.model.enums import TroubleKind
from reporter.model.kinds.core.pods import Pod, workload_name
from reporter.model.verdicts import Trouble
from reporter.stages.resources.kaito.inference_sets import WORKSPACE_LABEL
from reporter.stages.resources.kaito.nodes import nodes_ready
from reporter.stages.resources.kaito.replicas import (
    ModelReplica,
    is_rolling_out,
    replica_trouble,
    upgrade_started_at,
)
from reporter.stages.resources.workloads.containers import find_container
from reporter.stages.resources.workloads.pod_problems import (
    NOT_READY,
    PodProblem,
    find_pod_problems,
)
from reporter.stages.resources.workloads.pods import created_at
from reporter.stages.resources.workloads.repeated_failures import find_repeated_failure
from reporter.stages.snapshot.failed_pods import FAILED


def find_replica_problems(replica: ModelReplica) -> list[PodProblem]:
    """
    Return the problems of a replica's pods, worst first.

    A pod that stops being Ready is LOST, but STARTING while a rollout, an upgrade or a removal
    explains it. A pod that fits no node is LOST once all nodes are there: no further node comes.
    """
    pods = replica.counted_pods
    by_name = {pod.metadata.name: pod for pod in pods}
    upgrade = upgrade_started_at(replica.workspace)
    is_changing = is_rolling_out(pods) or replica.is_spare
    repeated = {problem.pod: problem for problem in _repeated_failures(replica)}
    problems = []
    for problem in find_pod_problems(pods, wanted=len(pods)):
        if problem.pod in repeated:
            # An error of the present pod is newer than the failures before it.
            has_error = (
                by_name[problem.pod].status.phase != FAILED and problem.kind is TroubleKind.FAILED
            )
            problems.append(problem if has_error else repeated[problem.pod])
            del repeated[problem.pod]
            continue
        expected = is_changing or (
            upgrade is not None and created_at(by_name[problem.pod]) < upgrade
        )
        if problem.kind is TroubleKind.LOST and expected:
            problem = replace(problem, kind=TroubleKind.STARTING)
        if problem.code == "Unschedulable" and nodes_ready(replica.workspace):
            problem = replace(problem, kind=TroubleKind.LOST)
        problem = _classify_container(problem, by_name[problem.pod], is_changing=expected)
        problems.append(problem)
    return sorted([*problems, *repeated.values()], key=lambda each: each.sort_key)


def _repeated_failures(replica: ModelReplica) -> list[PodProblem]:
    """Return the problems of pods that were replaced again and again, existing now or not."""
    present = {p.metadata.name: p for p in replica.counted_pods if p.status.phase != FAILED}
    found = (
        find_repeated_failure(name, failures, present.get(name))
        for name, failures in replica.failures.items()
    )
    return [problem for problem in found if problem is not None]


def _classify_container(problem: PodProblem, pod: Pod, *, is_changing: bool) -> PodProblem:
    """
    Tell the trouble of another container from that of the model's, which has the Workspace's name.

    Once the model is loaded, nothing in its pod takes as long as a model's start.
    """
    model = find_container(pod, pod.metadata.label(WORKSPACE_LABEL) or workload_name(pod))
    if problem.code == "Crash" and model is not None and problem.container != model.name:
        return replace(problem, code="OtherContainer")
    if problem.code != "ContainerNotReady":
        return problem
    if model is None or not model.ready:
        return replace(problem, code="NotReady")
    return problem if is_changing else replace(problem, kind=TroubleKind.LOST)


def pod_trouble(replica: ModelReplica, problems: Sequence[PodProblem]) -> Trouble:
    """Build the trouble of a replica from its worst pod; the other pods are only counted."""
    worst, others = problems[0], len(problems) - 1
    state = f"is not ready: {worst.text}"
    if worst.text.startswith(NOT_READY):
        state = f"is not ready{worst.text.removeprefix(NOT_READY)}"
    more = f", {others} more pod{'s' if others > 1 else ''} not ready" if others else ""
    since = worst.since
    if since is None and worst.kind is TroubleKind.STARTING:
        since = _pod_created_at(replica, worst.pod)
    trouble = replica_trouble(replica, _cause_code(worst), worst.kind)
    texts = {"object": f"model pod {worst.pod}", "state": state, "pods": more}
    return replace(
        trouble,
        is_crash=worst.is_crash,
        since=since,
        message_fields={**trouble.message_fields, **texts},
        foreign_text=worst.foreign_text,
    )


def _cause_code(problem: PodProblem) -> str:
    if "OOMKilled" in problem.text:
        return "OutOfMemory"
    is_lost = problem.kind is TroubleKind.LOST and problem.code == "NotReady"
    return "Lost" if is_lost else problem.code


def _pod_created_at(replica: ModelReplica, name: str) -> datetime | None:
    metas = (pod.metadata for pod in replica.counted_pods if pod.metadata.name == name)
    return next((meta.creation_timestamp for meta in metas), None)
