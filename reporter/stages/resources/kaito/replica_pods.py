"""
The problems of a replica's pods, from the pods' own status.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Trouble
from reporter.stages.resources.kaito.nodes import nodes_ready
from reporter.stages.resources.kaito.replicas import (
    ModelReplica,
    is_rolling_out,
    replica_trouble,
    upgrade_started_at,
)
from reporter.stages.resources.workloads.pod_problems import PodProblem, find_pod_problems
from reporter.stages.resources.workloads.pods import created_at


def find_replica_problems(replica: ModelReplica) -> list[PodProblem]:
    """
    Return the problems of a replica's pods, worst first.

    A pod that stops being Ready is LOST, but STARTING while a rollout, an upgrade or a removal
    explains it. A pod that fits no node is LOST once all nodes are there: no further node comes.
    """
    pods = replica.counted_pods
    created = {pod.metadata.name: created_at(pod) for pod in pods}
    upgrade = upgrade_started_at(replica.workspace)
    is_changing = is_rolling_out(pods) or replica.is_spare
    problems = []
    for problem in find_pod_problems(pods, wanted=len(pods)):
        expected = is_changing or (upgrade is not None and created[problem.pod] < upgrade)
        if problem.kind is TroubleKind.LOST and expected:
            problem = replace(problem, kind=TroubleKind.STARTING)
        if problem.code == "Unschedulable" and nodes_ready(replica.workspace):
            problem = replace(problem, kind=TroubleKind.LOST)
        problems.append(problem)
    return sorted(problems, key=lambda each: each.sort_key)


def pod_trouble(replica: ModelReplica, problems: Sequence[PodProblem]) -> Trouble:
    """
    Build the trouble of a replica from its worst pod; the other pods are only counted.
    """
    worst, others = problems[0], len(problems) - 1
    state = "is not ready" if worst.text == "not Ready" else f"is not ready: {worst.text}"
    more = f", {others} more pod{'s' if others > 1 else ''} not ready" if others else ""
    since = worst.since
    if since is None and worst.kind is TroubleKind.STARTING:
        since = _pod_created_at(replica, worst.pod)
    return replace(
        replica_trouble(replica, _cause_code(worst), worst.kind),
        is_crash=worst.is_crash,
        since=since,
        message_fields={"object": f"model pod {worst.pod}", "state": state, "pods": more},
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
