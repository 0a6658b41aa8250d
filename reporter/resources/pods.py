"""The pods of a workload: which of them count, what is wrong with each, and its cause code."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds import core
from reporter.kinds.core import ContainerStatus, Pod
from reporter.kinds.objects import Condition
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import abbreviate_list, sanitize, truncate_bytes
from reporter.resources.conditions import is_condition_true, is_deleting


# --------------------------------------------------------------------
# Cause codes of failed pods, from the reason that the kubelet gives.


FAILED, OUT_OF_RESOURCE, STORAGE_LIMIT = "Failed", "OutOfResource", "StorageLimit"
KUBELET_REASONS = frozenset(
    {
        "Evicted",
        "NodeAffinity",
        "NodeShutdown",
        "Preempting",
        "Terminated",
        "TopologyAffinityError",
        "UnexpectedAdmissionError",
    }
)
"""Reasons for which a kubelet ends or refuses a pod, beside OutOf<resource>."""

_OWN_LIMIT = re.compile(
    r"exceeds the (total )?limit|exceeded its local ephemeral storage limit", re.IGNORECASE
)
"""
The message about a pod that is evicted for a limit of its own, on a node that is short of nothing
(kubernetes, pkg/kubelet/eviction/eviction_manager.go, emptyDirMessageFmt and the two formats below it).
"""

FAILURE_CODES = KUBELET_REASONS | {FAILED, OUT_OF_RESOURCE, STORAGE_LIMIT}


def failure_code(reason: str, message: str) -> str:
    """Return the cause code of a failed pod; a reason that is not known is simply a failure."""
    if reason == "Evicted" and _OWN_LIMIT.search(message):
        return STORAGE_LIMIT
    if reason.startswith("OutOf"):
        return OUT_OF_RESOURCE
    return reason if reason in KUBELET_REASONS else FAILED


# --------------------------------------------------------------------
# Cause codes of a container that ended, and must not.


CRASH, KILLED, ENDED, OUT_OF_MEMORY = "Crash", "Killed", "Ended", "OutOfMemory"
END_CODES = frozenset({CRASH, KILLED, ENDED, OUT_OF_MEMORY})
KILL_EXIT_CODES = frozenset({137, 143})
"""128 + SIGKILL and 128 + SIGTERM: the kubelet stops a container whose liveness probe fails."""


def end_code(terminated: core.ContainerStateTerminated | None) -> str:
    """Return the cause code of how a container ended; that of a crash if it is not told."""
    if terminated is None:
        return CRASH
    if terminated.reason == "OOMKilled":
        return OUT_OF_MEMORY
    if terminated.exit_code in KILL_EXIT_CODES:
        return KILLED
    return ENDED if terminated.exit_code == 0 else CRASH


# --------------------------------------------------------------------
# The containers of a pod: which of them is meant, and which are ready.
#
# A sidecar that restarts is an init container (KEP-753). Unlike the others it goes on running, and the
# pod is Ready only with it.


def waiting_reason(status: ContainerStatus) -> str:
    """Return the reason for which a container waits, such as CrashLoopBackOff; else empty."""
    return (status.state.waiting.reason or "") if status.state.waiting is not None else ""


def is_init_container(pod: Pod, status: ContainerStatus) -> bool:
    """
    Return whether a status is that of an init container; sidecars that restart are among these.
    """
    return status in (pod.status.init_container_statuses or ())


def name_container(pod: Pod, status: ContainerStatus) -> str:
    """
    Return the name of a container for a message; empty for the only one of a pod.

    kubectl logs shows the first container unless it is told another one.
    """
    if is_init_container(pod, status):
        return f"init container {status.name}"
    return f"container {status.name}" if len(_serving(pod)) > 1 else ""


def are_containers_ready(pod: Pod) -> bool:
    """Return whether all containers that must be ready are; False if none was reported."""
    serving = _serving(pod)
    return bool(serving) and all(each.ready for each in serving)


def unready_beside_ready(pod: Pod) -> tuple[ContainerStatus, ...]:
    """Return the containers that are not ready while another one of the pod is."""
    serving = _serving(pod)
    unready = tuple(each for each in serving if not each.ready)
    return unready if len(unready) < len(serving) else ()


def find_container(pod: Pod, name: str) -> ContainerStatus | None:
    """Return the status of a container by name, init containers too; None if not reported."""
    return next((each for each in core.container_statuses(pod) if each.name == name), None)


def _serving(pod: Pod) -> tuple[ContainerStatus, ...]:
    """
    Return the main containers and the sidecars that restart; without those while the pod starts.
    """
    main = tuple(pod.status.container_statuses or ())
    if all(each.state.waiting is not None for each in main):
        return main
    # Once a main container has started, an init container that still runs is a sidecar.
    sidecars = (
        each for each in pod.status.init_container_statuses or () if each.state.terminated is None
    )
    return (*sidecars, *main)


LEFTOVER_REASONS = frozenset({"Evicted", "NodeLost", "Terminated", "NodeShutdown", "Preempting"})
"""
Reasons of failed pods that stay behind until the pod garbage collector removes them.

They match the workload's selector for hours after their replacement runs.
"""

MIN_TIME = datetime.min.replace(tzinfo=UTC)


def created_at(pod: Pod) -> datetime:
    """
    Return the creation of a pod for comparisons; one without a time counts as the oldest of all.
    """
    return pod.metadata.creation_timestamp or MIN_TIME


def filter_active_pods(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """
    Return the pods of a Deployment that count.

    A ReplicaSet replaces every failed pod. A failed pod that is older than another pod has therefore
    been replaced already, whatever the reason of its failure was.
    """
    remaining = [pod for pod in pods if not is_leftover_pod(pod)]
    youngest = max(map(created_at, remaining), default=MIN_TIME)
    return tuple(p for p in remaining if p.status.phase != "Failed" or created_at(p) == youngest)


def counts_as_failure(pod: Pod) -> bool:
    """Return whether a pod failed and another one is to take its place."""
    return pod.status.phase == "Failed" and not _is_of_job(pod) and not is_deleting(pod)


def is_leftover_pod(pod: Pod) -> bool:
    """Return whether a pod does not count: being deleted, done, evicted, or of a Job."""
    status = pod.status
    return (
        pod.metadata.deletion_timestamp is not None
        or status.phase == "Succeeded"
        or (status.phase == "Failed" and status.reason in LEFTOVER_REASONS)
        or _is_of_job(pod)
    )


def _is_of_job(pod: Pod) -> bool:
    return "Job" in [owner.kind for owner in pod.metadata.owner_references or ()]


# --------------------------------------------------------------------
# The problem of one pod, from its own status.
#
# Sources: the Pod API reference (phase, conditions, container states) and kubelet, which writes them.


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

    *text* follows the pod's name in a message. *container*: the one that crashed; empty without a crash.
    *foreign_text* is written by kubelet or the scheduler. *since*: when the pod's Ready condition changed.
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
        """The rank among the problems of several pods: the worst kind first, then by name."""
        return (SEVERITY.index(self.kind), self.pod)


def find_pod_problems(pods: Iterable[Pod], *, desired: int) -> list[PodProblem]:
    """
    Return the problems of pods that are not Ready, worst first.

    Beyond the youngest *desired* pods, the older ones are being replaced: that such a pod stops being
    Ready is expected.
    """
    youngest_first = sorted(pods, key=created_at, reverse=True)
    problems = []
    for position, pod in enumerate(youngest_first):
        problem = find_pod_problem(pod)
        if problem is None:
            continue
        if problem.kind is TroubleKind.LOST and position >= desired:
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
            failure_code(reason, pod.status.message or ""),
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
    kind = TroubleKind.LOST if core.was_ready(pod) else TroubleKind.STARTING
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
    waiting = next(filter(None, map(waiting_reason, core.container_statuses(pod))), "")
    return _new_problem(pod, kind, "NotStarted" if waiting else "NotReady", waiting or NOT_READY)


def _container_problem(pod: Pod) -> PodProblem | None:
    """
    Return the problem of the first container, init containers first, with an error or a crash.
    """
    for status in core.container_statuses(pod):
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
    code = end_code(terminated)
    # restartCount does not include the crash that the container has not been restarted from.
    crashes = status.restart_count + (1 if status.state.terminated is not None else 0)
    kind = TroubleKind.LOST if core.was_ready(pod) else TroubleKind.STARTING
    if is_backing_off or crashes > 1:
        kind = TroubleKind.FAILED
    name = waiting_reason(status) or (terminated.reason if terminated else "") or "crashed"
    if code == OUT_OF_MEMORY and is_backing_off:
        name = "CrashLoopBackOff after OOMKilled"
    facts = [f"exit code {terminated.exit_code}"] if terminated is not None else []
    restarts = status.restart_count
    facts += [f"{restarts} restart{'' if restarts == 1 else 's'}"] if restarts else []
    text = f"{name} ({', '.join(facts)})" if facts else name
    foreign = (terminated.message if terminated else "") or ""
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
