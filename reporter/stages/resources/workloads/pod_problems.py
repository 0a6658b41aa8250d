"""
The problem of one pod, from its own status.

Sources: the Pod API reference (phase, conditions, container states) and kubelet, which writes them.
"""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.core.pods import (
    ContainerStatus,
    Pod,
    container_statuses,
    was_ready,
)
from reporter.stages.resources.conditions import is_condition_true
from reporter.stages.resources.workloads.containers import (
    are_containers_ready,
    is_init_container,
    name_container,
    unready_beside_ready,
    waiting_reason,
)
from reporter.stages.resources.workloads.pod_failure_codes import failure_code
from reporter.stages.resources.workloads.pods import created_at
from reporter.stages.text.phrases import abbreviate_list
from reporter.stages.text.sanitize import sanitize, truncate_bytes


IMAGE_PULL_REASONS = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
    }
)
"""
Waiting reasons of a container whose image cannot be had (kubelet, pkg/kubelet/images/types.go).
"""

CONFIG_ERROR_REASONS = {
    "CreateContainerConfigError": "Config",
    "CreateContainerError": "StartError",
    "RunContainerError": "StartError",
}
"""
Waiting reasons of a container that cannot be created or started (kubelet), with their cause codes.
"""

NOT_READY = "not Ready"
ALL_CONTAINERS_READY = f"{NOT_READY}, though all its containers are"
"""
The texts about a pod that gives no reason.

Of a node that is lost, the node lifecycle controller changes the pods' Ready condition alone
(kubernetes, pkg/controller/util/node/controller_utils.go).
"""

CONTAINERS_NOT_READY = "ContainersNotReady"
MAX_PROBLEM_BYTES = 100
"""Limit of a problem's text in bytes. Its reasons come from kubelet and the container runtime."""

SEVERITY = (TroubleKind.FAILED, TroubleKind.LOST, TroubleKind.STARTING, TroubleKind.DECLARED)


class PodProblem(Struct, frozen=True):
    """
    The reason why one pod is not Ready.

    *text* follows the pod's name in a message. *container* is the one that crashed. *foreign_text* is written by kubelet or the scheduler.
    """

    pod: str
    kind: TroubleKind
    code: str
    text: str
    foreign_text: str = ""
    is_crash: bool = False
    since: datetime | None = None
    container: str = ""

    @property
    def sort_key(self) -> tuple[int, str]:
        return (SEVERITY.index(self.kind), self.pod)


def find_pod_problems(pods: Iterable[Pod], *, wanted: int) -> list[PodProblem]:
    """
    Return the problems of pods that are not Ready, worst first.

    Beyond the youngest *wanted* pods, the older ones are being replaced: that such a pod stops being
    Ready is expected.
    """
    youngest_first = sorted(pods, key=created_at, reverse=True)
    problems = []
    for position, pod in enumerate(youngest_first):
        problem = find_pod_problem(pod)
        if problem is None:
            continue
        if problem.kind is TroubleKind.LOST and position >= wanted:
            problem = replace(problem, kind=TroubleKind.STARTING)
        problems.append(problem)
    return sorted(problems, key=lambda each: each.sort_key)


def find_pod_problem(pod: Pod) -> PodProblem | None:
    """Return the problem of a pod; None for a Ready pod."""
    if pod.is_ready:
        return None
    problem = _container_problem(pod) or _pod_level_problem(pod)
    is_disrupted = problem.kind is TroubleKind.LOST and _disruption_target(pod) is not None
    return replace(problem, kind=TroubleKind.STARTING) if is_disrupted else problem


def _disruption_target(pod: Pod) -> Condition | None:
    """
    Return the condition of a pod chosen for preemption, eviction or a node shutdown; None if not.

    A controller replaces such a pod, so its end is a planned change (KEP-3329).
    """
    condition = pod.status.condition("DisruptionTarget")
    return condition if is_condition_true(condition) else None


def _pod_level_problem(pod: Pod) -> PodProblem:
    scheduled = pod.status.condition("PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        unschedulable = scheduled.reason == "Unschedulable"
        return _new_problem(
            pod,
            TroubleKind.STARTING,
            "Unschedulable" if unschedulable else "NotStarted",
            scheduled.reason or "not scheduled",
            foreign=scheduled.message or "",
        )
    if pod.status.phase == "Failed":
        reason = pod.status.reason or "Failed"
        return _new_problem(
            pod,
            TroubleKind.FAILED,
            failure_code(reason),
            reason,
            foreign=pod.status.message or "",
        )
    disrupted = _disruption_target(pod)
    if disrupted is not None:
        return _new_problem(
            pod, TroubleKind.STARTING, "Disrupted", disrupted.reason or "being evicted"
        )
    return _unready_problem(pod)


def _unready_problem(pod: Pod) -> PodProblem:
    """
    Build the problem of a pod without an error: which container is not ready, or that all are.
    """
    kind = TroubleKind.LOST if was_ready(pod) else TroubleKind.STARTING
    if are_containers_ready(pod):
        ready = pod.status.condition("Ready")
        reason = (ready.reason if ready is not None else "") or ""
        if reason in {"", CONTAINERS_NOT_READY}:
            return _new_problem(pod, kind, "AllContainersReady", ALL_CONTAINERS_READY)
        foreign = (ready.message if ready is not None else "") or ""
        return _new_problem(pod, kind, "AllContainersReady", reason, foreign=foreign)
    unready = unready_beside_ready(pod)
    if unready:
        names = abbreviate_list([each.name for each in unready])
        text = f"container{'s' if len(unready) > 1 else ''} {names} not ready"
        return _new_problem(pod, kind, "ContainerNotReady", text)
    waiting = next(filter(None, map(waiting_reason, container_statuses(pod))), "")
    return _new_problem(pod, kind, "NotStarted" if waiting else "NotReady", waiting or NOT_READY)


def _container_problem(pod: Pod) -> PodProblem | None:
    """
    Return the problem of the first container, init containers first, with an error or a crash.
    """
    for status in container_statuses(pod):
        waiting = status.state.waiting
        reason = waiting_reason(status)
        foreign = (waiting.message if waiting else "") or ""
        if reason in IMAGE_PULL_REASONS or reason in CONFIG_ERROR_REASONS:
            code = "ImagePull" if reason in IMAGE_PULL_REASONS else CONFIG_ERROR_REASONS[reason]
            container = name_container(pod, status)
            return _new_problem(
                pod, TroubleKind.FAILED, code, reason, foreign=foreign, container=container
            )
        if reason == "CrashLoopBackOff" or _has_crashed(pod, status):
            return _crash_problem(pod, status)
    return None


def _has_crashed(pod: Pod, status: ContainerStatus) -> bool:
    """
    Return whether a container is down after a crash, or runs again but was not Ready since.

    A main container must not end at all. Exit code 0 counts as a crash of it, because a server that
    a failing liveness probe stops usually ends with it.
    """
    terminated = status.state.terminated or status.last_state.terminated
    if terminated is None or (terminated.exit_code == 0 and is_init_container(pod, status)):
        return False
    if status.state.terminated is not None:
        return True
    running = status.state.running
    if running is None or status.ready:
        return False
    # A Ready condition that changed after the restart shows that the container was Ready since.
    changed = _ready_changed_at(pod)
    return changed is None or running.started_at is None or changed <= running.started_at


def _crash_problem(pod: Pod, status: ContainerStatus) -> PodProblem:
    """
    Build the problem of a crashed container; it is FAILED from its back-off or second crash on.
    """
    terminated = status.state.terminated or status.last_state.terminated
    is_backing_off = waiting_reason(status) == "CrashLoopBackOff"
    is_out_of_memory = terminated is not None and terminated.reason == "OOMKilled"
    # restartCount does not include the crash that the container has not been restarted from.
    crashes = status.restart_count + (1 if status.state.terminated is not None else 0)
    kind = TroubleKind.LOST if was_ready(pod) else TroubleKind.STARTING
    if is_backing_off or crashes > 1:
        kind = TroubleKind.FAILED
    name = waiting_reason(status) or (terminated.reason if terminated else "") or "crashed"
    if is_out_of_memory and is_backing_off:
        name = "CrashLoopBackOff after OOMKilled"
    facts = [f"exit code {terminated.exit_code}"] if terminated is not None else []
    facts += [_plural(status.restart_count, "restart")] if status.restart_count else []
    text = f"{name} ({', '.join(facts)})" if facts else name
    foreign = (terminated.message if terminated else "") or ""
    code = "OutOfMemory" if is_out_of_memory else "Crash"
    container = name_container(pod, status)
    problem = _new_problem(pod, kind, code, text, foreign=foreign, container=container)
    return replace(problem, is_crash=True, container=status.name)


def _new_problem(
    pod: Pod,
    kind: TroubleKind,
    code: str,
    text: str,
    *,
    foreign: str = "",
    container: str = "",
) -> PodProblem:
    short_text = truncate_bytes(sanitize(text), MAX_PROBLEM_BYTES)
    named = f"{container}: {short_text}" if container else short_text
    since = _ready_changed_at(pod)
    return PodProblem(pod.metadata.name, kind, code, named, foreign, since=since)


def _ready_changed_at(pod: Pod) -> datetime | None:
    ready = pod.status.condition("Ready")
    return ready.last_transition_time if ready is not None else None


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
