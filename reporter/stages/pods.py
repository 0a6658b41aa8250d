"""
What ails a pod, as its own status tells.

Rules: Pod API reference (phase, conditions, container states) and what kubelet writes when.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from reporter.model.objects import Condition, ContainerStatus, Pod
from reporter.model.words import Kind
from reporter.stages.foreign import clean, shorten


IMAGE = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
    }
)
CONFIG = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})
LEFTOVER = frozenset({"Evicted", "NodeLost", "Terminated", "NodeShutdown", "Preempting"})
"""
Reasons of failed pods that stay behind for hours after their replacement runs.
"""

FIRST_STATUS = timedelta(seconds=2)
"""
Kubelet writes the first Ready=False within this time of startTime; a later one was Ready before.
"""

LONGEST = 100
"""
Bytes of a pod's trouble; its reasons are words of kubelet, which nobody checks.
"""

NEVER = datetime.min.replace(tzinfo=UTC)
SEVERITY = (Kind.FAILED, Kind.LOST, Kind.STARTING, Kind.DECLARED)


@dataclass(frozen=True, slots=True)
class Ailment:
    """
    Why one pod is not Ready.

    *text* follows the pod's name in a message; *foreign* is a text of kubelet or scheduler.
    """

    pod: str
    kind: Kind
    code: str
    text: str
    foreign: str = ""
    crash: bool = False
    since: datetime | None = None

    @property
    def order(self) -> tuple[int, str]:
        return (SEVERITY.index(self.kind), self.pod)


def ailments(pods: Iterable[Pod], *, wanted: int) -> list[Ailment]:
    """
    What ails the pods that count, worst first.

    Of more pods than are *wanted* the oldest are being replaced, which is no trouble of its own.
    """
    youngest_first = sorted(pods, key=_born, reverse=True)
    found = []
    for number, pod in enumerate(youngest_first):
        each = ailment(pod)
        if each is not None and each.kind is Kind.LOST and number >= wanted:
            each = replace(each, kind=Kind.STARTING)
        found += [each] if each is not None else []
    return sorted(found, key=lambda a: a.order)


def current(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """
    The pods that count: not those on their way out, done, or left behind by an eviction.

    A ReplicaSet replaces every failed pod, so one that is older than another is left behind too.
    """
    left = tuple(pod for pod in pods if not left_behind(pod))
    youngest = max(map(_born, left), default=NEVER)
    return tuple(p for p in left if p.status.phase != "Failed" or _born(p) == youngest)


def _born(pod: Pod) -> datetime:
    return pod.metadata.creation_timestamp or NEVER


def left_behind(pod: Pod) -> bool:
    status = pod.status
    return (
        pod.metadata.deletion_timestamp is not None
        or status.phase == "Succeeded"
        or (status.phase == "Failed" and status.reason in LEFTOVER)
        or any(owner.kind == "Job" for owner in pod.metadata.owner_references or ())
    )


def ailment(pod: Pod) -> Ailment | None:
    """
    None for a Ready pod.
    """
    if pod.ready:
        return None
    found = _of_containers(pod) or _of_pod(pod)
    evicted = found.kind is Kind.LOST and _disruption(pod) is not None
    return replace(found, kind=Kind.STARTING) if evicted else found


def _disruption(pod: Pod) -> Condition | None:
    """
    That it was chosen to go: preempted, evicted, its node tainted or shut down.
    """
    condition = pod.status.condition("DisruptionTarget")
    return condition if condition is not None and condition.status == "True" else None


def _of_pod(pod: Pod) -> Ailment:
    scheduled = pod.status.condition("PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        unschedulable = scheduled.reason == "Unschedulable"
        return _ailment(
            pod,
            Kind.STARTING,
            "Unschedulable" if unschedulable else "NotReady",
            scheduled.reason or "not scheduled",
            foreign=scheduled.message or "",
        )
    if pod.status.phase == "Failed":
        reason = pod.status.reason or "Failed"
        return _ailment(pod, Kind.FAILED, "Failed", reason, foreign=pod.status.message or "")
    disrupted = _disruption(pod)
    if disrupted is not None:
        return _ailment(pod, Kind.STARTING, "NotReady", disrupted.reason or "being evicted")
    waiting = next((r for s in _statuses(pod) if (r := _waiting(s))), "not Ready")
    return _ailment(pod, Kind.LOST if _was_ready(pod) else Kind.STARTING, "NotReady", waiting)


def _of_containers(pod: Pod) -> Ailment | None:
    """
    The hard error of the first container that has one, or a crash.
    """
    for status in _statuses(pod):
        waiting = status.state.waiting
        reason = _waiting(status)
        foreign = (waiting.message if waiting else "") or ""
        if reason in IMAGE:
            return _ailment(pod, Kind.FAILED, "ImagePull", reason, foreign=foreign)
        if reason in CONFIG:
            return _ailment(pod, Kind.FAILED, "Config", reason, foreign=foreign)
        if reason == "CrashLoopBackOff" or _crashed(pod, status):
            return _crash(pod, status)
    return None


def _crashed(pod: Pod, status: ContainerStatus) -> bool:
    """
    Whether a container is down by a crash, or warms up after one and was not Ready since.

    Only an init container may end, so exit code 0 is a crash of any other: a liveness probe's doing.
    """
    ended = status.state.terminated or status.last_state.terminated
    if ended is None or (ended.exit_code == 0 and _initial(pod, status)):
        return False
    running = status.state.running
    if status.state.terminated is not None:
        return True
    if running is None or status.ready:
        return False
    ready = pod.status.condition("Ready")
    changed = ready.last_transition_time if ready is not None else None
    return changed is None or running.started_at is None or changed <= running.started_at


def _initial(pod: Pod, status: ContainerStatus) -> bool:
    return status in (pod.status.init_container_statuses or ())


def _crash(pod: Pod, status: ContainerStatus) -> Ailment:
    ended = status.state.terminated or status.last_state.terminated
    backing_off = _waiting(status) == "CrashLoopBackOff"
    crashes = status.restart_count + (1 if status.state.terminated is not None else 0)
    kind = Kind.LOST if _was_ready(pod) else Kind.STARTING
    if backing_off or crashes > 1:
        kind = Kind.FAILED
    name = _waiting(status) or (ended.reason if ended else "") or "crashed"
    if ended is not None and ended.reason == "OOMKilled" and backing_off:
        name = "CrashLoopBackOff after OOMKilled"
    facts = [f"exit code {ended.exit_code}"] if ended is not None else []
    facts += [_plural(status.restart_count, "restart")] if status.restart_count else []
    text = f"{name} ({', '.join(facts)})" if facts else name
    foreign = (ended.message if ended else "") or ""
    code = "OutOfMemory" if ended is not None and ended.reason == "OOMKilled" else "Crash"
    return _ailment(pod, kind, code, text, foreign=foreign, crash=True)


def _ailment(
    pod: Pod, kind: Kind, code: str, text: str, *, foreign: str = "", crash: bool = False
) -> Ailment:
    ready = pod.status.condition("Ready")
    since = ready.last_transition_time if ready is not None else None
    brief = shorten(clean(text), LONGEST)
    return Ailment(pod.metadata.name, kind, code, brief, foreign, crash, since)


def _was_ready(pod: Pod) -> bool:
    ready = pod.status.condition("Ready")
    changed = ready.last_transition_time if ready is not None else None
    started = pod.status.start_time
    return changed is not None and started is not None and changed > started + FIRST_STATUS


def _statuses(pod: Pod) -> tuple[ContainerStatus, ...]:
    return (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))


def _waiting(status: ContainerStatus) -> str:
    return (status.state.waiting.reason or "") if status.state.waiting is not None else ""


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
