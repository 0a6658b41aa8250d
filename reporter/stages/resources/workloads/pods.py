"""
What ails a pod, as its own status tells.

Rules: Pod API reference (phase, conditions, container states) and what kubelet writes when.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.core.pods import ContainerStatus, Pod
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
CONFIG_ERROR_REASONS = frozenset(
    {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
)
LEFTOVER_REASONS = frozenset({"Evicted", "NodeLost", "Terminated", "NodeShutdown", "Preempting"})
"""
Reasons of failed pods that stay behind for hours after their replacement runs.
"""

FIRST_STATUS_WITHIN = timedelta(seconds=2)
"""
Kubelet writes the first Ready=False within this time of startTime; a later one was Ready before.
"""

MAX_PROBLEM_BYTES = 100
"""
Bytes of a pod's trouble; its reasons are words of kubelet, which nobody checks.
"""

MIN_TIME = datetime.min.replace(tzinfo=UTC)
SEVERITY = (TroubleKind.FAILED, TroubleKind.LOST, TroubleKind.STARTING, TroubleKind.DECLARED)


@dataclass(frozen=True, slots=True)
class PodProblem:
    """
    Why one pod is not Ready.

    *text* follows the pod's name in a message; *foreign* is a text of kubelet or scheduler.
    """

    pod: str
    kind: TroubleKind
    code: str
    text: str
    foreign_text: str = ""
    is_crash: bool = False
    since: datetime | None = None

    @property
    def sort_key(self) -> tuple[int, str]:
        return (SEVERITY.index(self.kind), self.pod)


def find_pod_problems(pods: Iterable[Pod], *, wanted: int) -> list[PodProblem]:
    """
    What ails the pods that count, worst first.

    Of more pods than are *wanted* the oldest are being replaced, which is no trouble of its own.
    """
    youngest_first = sorted(pods, key=_created_at, reverse=True)
    found = []
    for number, pod in enumerate(youngest_first):
        each = find_pod_problem(pod)
        if each is not None and each.kind is TroubleKind.LOST and number >= wanted:
            each = replace(each, kind=TroubleKind.STARTING)
        found += [each] if each is not None else []
    return sorted(found, key=lambda a: a.sort_key)


def filter_active_pods(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """
    The pods that count: not those on their way out, done, or left behind by an eviction.

    A ReplicaSet replaces every failed pod, so one that is older than another is left behind too.
    """
    left = tuple(pod for pod in pods if not is_leftover_pod(pod))
    youngest = max(map(_created_at, left), default=MIN_TIME)
    return tuple(p for p in left if p.status.phase != "Failed" or _created_at(p) == youngest)


def _created_at(pod: Pod) -> datetime:
    return pod.metadata.creation_timestamp or MIN_TIME


def is_leftover_pod(pod: Pod) -> bool:
    status = pod.status
    return (
        pod.metadata.deletion_timestamp is not None
        or status.phase == "Succeeded"
        or (status.phase == "Failed" and status.reason in LEFTOVER_REASONS)
        or any(owner.kind == "Job" for owner in pod.metadata.owner_references or ())
    )


def find_pod_problem(pod: Pod) -> PodProblem | None:
    """
    None for a Ready pod.
    """
    if pod.is_ready:
        return None
    found = _container_problem(pod) or _pod_level_problem(pod)
    evicted = found.kind is TroubleKind.LOST and _disruption_target(pod) is not None
    return replace(found, kind=TroubleKind.STARTING) if evicted else found


def _disruption_target(pod: Pod) -> Condition | None:
    """
    That it was chosen to go: preempted, evicted, its node tainted or shut down.
    """
    condition = pod.status.condition("DisruptionTarget")
    return condition if condition is not None and condition.status == "True" else None


def _pod_level_problem(pod: Pod) -> PodProblem:
    scheduled = pod.status.condition("PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        unschedulable = scheduled.reason == "Unschedulable"
        return _new_problem(
            pod,
            TroubleKind.STARTING,
            "Unschedulable" if unschedulable else "NotReady",
            scheduled.reason or "not scheduled",
            foreign=scheduled.message or "",
        )
    if pod.status.phase == "Failed":
        reason = pod.status.reason or "Failed"
        return _new_problem(
            pod, TroubleKind.FAILED, "Failed", reason, foreign=pod.status.message or ""
        )
    disrupted = _disruption_target(pod)
    if disrupted is not None:
        return _new_problem(
            pod, TroubleKind.STARTING, "NotReady", disrupted.reason or "being evicted"
        )
    waiting = next((r for s in _container_statuses(pod) if (r := _waiting_reason(s))), "not Ready")
    return _new_problem(
        pod, TroubleKind.LOST if _was_ready(pod) else TroubleKind.STARTING, "NotReady", waiting
    )


def _container_problem(pod: Pod) -> PodProblem | None:
    """
    The hard error of the first container that has one, or a crash.
    """
    for status in _container_statuses(pod):
        waiting = status.state.waiting
        reason = _waiting_reason(status)
        foreign = (waiting.message if waiting else "") or ""
        if reason in IMAGE_PULL_REASONS:
            return _new_problem(pod, TroubleKind.FAILED, "ImagePull", reason, foreign=foreign)
        if reason in CONFIG_ERROR_REASONS:
            return _new_problem(pod, TroubleKind.FAILED, "Config", reason, foreign=foreign)
        if reason == "CrashLoopBackOff" or _has_crashed(pod, status):
            return _crash_problem(pod, status)
    return None


def _has_crashed(pod: Pod, status: ContainerStatus) -> bool:
    """
    Whether a container is down by a crash, or warms up after one and was not Ready since.

    Only an init container may end, so exit code 0 is a crash of any other: a liveness probe's doing.
    """
    ended = status.state.terminated or status.last_state.terminated
    if ended is None or (ended.exit_code == 0 and _is_init_container(pod, status)):
        return False
    running = status.state.running
    if status.state.terminated is not None:
        return True
    if running is None or status.ready:
        return False
    ready = pod.status.condition("Ready")
    changed = ready.last_transition_time if ready is not None else None
    return changed is None or running.started_at is None or changed <= running.started_at


def _is_init_container(pod: Pod, status: ContainerStatus) -> bool:
    return status in (pod.status.init_container_statuses or ())


def _crash_problem(pod: Pod, status: ContainerStatus) -> PodProblem:
    ended = status.state.terminated or status.last_state.terminated
    backing_off = _waiting_reason(status) == "CrashLoopBackOff"
    crashes = status.restart_count + (1 if status.state.terminated is not None else 0)
    kind = TroubleKind.LOST if _was_ready(pod) else TroubleKind.STARTING
    if backing_off or crashes > 1:
        kind = TroubleKind.FAILED
    name = _waiting_reason(status) or (ended.reason if ended else "") or "crashed"
    if ended is not None and ended.reason == "OOMKilled" and backing_off:
        name = "CrashLoopBackOff after OOMKilled"
    facts = [f"exit code {ended.exit_code}"] if ended is not None else []
    facts += [_plural(status.restart_count, "restart")] if status.restart_count else []
    text = f"{name} ({', '.join(facts)})" if facts else name
    foreign = (ended.message if ended else "") or ""
    code = "OutOfMemory" if ended is not None and ended.reason == "OOMKilled" else "Crash"
    return _new_problem(pod, kind, code, text, foreign=foreign, crash=True)


def _new_problem(
    pod: Pod, kind: TroubleKind, code: str, text: str, *, foreign: str = "", crash: bool = False
) -> PodProblem:
    ready = pod.status.condition("Ready")
    since = ready.last_transition_time if ready is not None else None
    brief = truncate_bytes(sanitize(text), MAX_PROBLEM_BYTES)
    return PodProblem(pod.metadata.name, kind, code, brief, foreign, crash, since)


def _was_ready(pod: Pod) -> bool:
    ready = pod.status.condition("Ready")
    changed = ready.last_transition_time if ready is not None else None
    started = pod.status.start_time
    return changed is not None and started is not None and changed > started + FIRST_STATUS_WITHIN


def _container_statuses(pod: Pod) -> tuple[ContainerStatus, ...]:
    return (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))


def _waiting_reason(status: ContainerStatus) -> str:
    return (status.state.waiting.reason or "") if status.state.waiting is not None else ""


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
