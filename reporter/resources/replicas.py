"""
One replica of an InferenceSet: a Workspace with its pods, and the changes it may be going through.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from sys import intern

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.kinds.core import NODES, Pod, workload_name
from reporter.kinds.kaito import WORKSPACES, Workspace
from reporter.kinds.objects import Condition, find_condition
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import abbreviate_list
from reporter.model.times import parse_time
from reporter.model.verdicts import Cause, Trouble
from reporter.resources import inference_sets
from reporter.resources.check_result import CheckResult
from reporter.resources.conditions import is_condition_true, reason_text
from reporter.resources.lost_nodes import NODE_NOT_READY
from reporter.resources.machines import nodes_ready
from reporter.resources.pods import (
    END_CODES,
    NOT_READY,
    OUT_OF_MEMORY,
    PodProblem,
    created_at,
    find_container,
    find_pod_problems,
)
from reporter.resources.restarts import find_repeated_failure
from reporter.snapshot.pod_runs import FAILED, FailedPods


UPGRADE_LABEL = "kaito.sh/upgrade-to-version"
UPGRADE_START_ANNOTATION = "kaito.sh/upgrade-start-time"
"""
The marks of an upgrade in place. KAITO leaves both on the Workspace when the upgrade is over.
"""

REVISION_LABEL = "controller-revision-hash"


DEGRADED = "Degraded"


class ServingReplicas(Struct, frozen=True):
    """
    The number of an InferenceSet's desired replicas that serve; *unit* is what a reader counts.
    """

    serving: int = 0
    desired: int = 1
    unit: str = "model pods"

    @classmethod
    def of(cls, workspaces: Iterable[Workspace], serving: int, desired: int) -> "ServingReplicas":
        """Return the counts of a set; a replica of several nodes is more than one pod."""
        has_pods = any(each.status.target_node_count > 1 for each in workspaces)
        return cls(serving, desired, "replicas" if has_pods else "model pods")

    @property
    def is_out(self) -> bool:
        """True if no replica serves, so that the model answers nothing."""
        return not self.serving

    @property
    def is_enough(self) -> bool:
        """True if as many serve as are desired; always for an InferenceSet scaled to 0."""
        return self.serving >= self.desired

    def cause_code(self, code: str) -> str:
        """
        Return the code of a cause; an outage and a loss of some replicas are different causes.
        """
        # Kept for each finding, as the texts below are: an outage makes thousands of the same.
        return code if self.is_out else intern(f"{DEGRADED}.{code}")

    def describe(self) -> str:
        """Return the beginning of a message; empty if the only replica is out."""
        if self.is_out and self.desired <= 1:
            return ""
        extent = "unavailable, " if self.is_out else "degraded, "
        verb = "is" if self.serving == 1 else "are"
        counts = f"{self.serving} of {self.desired} {self.unit} {verb} ready: "
        return intern(counts if self.is_enough else extent + counts)


class ModelReplica(Struct, frozen=True, gc=False):
    """
    A Workspace with its pods. *of_set*: how many replicas of its InferenceSet serve.

    *failures*: by name, of pods that failed since they were Ready. *has_node_error*: its nodes were
    refused, and the outcome of the next attempt is open.

    A pass builds two for each Workspace, so it is a struct: cheaper than a dataclass.
    """

    workspace: Workspace
    pods: Sequence[Pod]
    of_set: ServingReplicas = ServingReplicas()
    failures: Mapping[str, FailedPods] = field(default_factory=dict)
    has_node_error: bool = False

    @property
    def is_spare(self) -> bool:
        """True if enough other replicas serve, so this one is being replaced or removed."""
        return self.of_set.is_enough

    @property
    def counted_pods(self) -> tuple[Pod, ...]:
        """The pods without those that are being deleted or were left behind."""
        return inference_sets.without_leftover_pods(self.pods)

    @property
    def is_serving(self) -> bool:
        """True if all pods are Ready and none is missing, whatever the state of the Workspace."""
        return inference_sets.is_serving(self.workspace, self.counted_pods)


def upgrade_started_at(workspace: Workspace) -> datetime | None:
    """Return when the last upgrade in place began; it replaces the pods created before."""
    if not workspace.metadata.label(UPGRADE_LABEL):
        return None
    return parse_time(workspace.metadata.annotation(UPGRADE_START_ANNOTATION))


def has_served(workspace: Workspace) -> bool:
    """
    Return whether a replica has been Ready at any time; KAITO's state NotReady means that it was.
    """
    inference = find_condition(workspace.status.conditions, "InferenceReady")
    return workspace.status.state in {"Ready", "NotReady"} or is_condition_true(inference)


def is_rolling_out(pods: Sequence[Pod]) -> bool:
    """Return whether the StatefulSet's pods are of more than one revision."""
    revisions = {pod.metadata.label(REVISION_LABEL) for pod in pods} - {""}
    return len(revisions) > 1


def replica_trouble(replica: ModelReplica, code: str, kind: TroubleKind) -> Trouble:
    """Build the trouble of a replica, with a message that the caller completes."""
    workspace = replica.workspace
    return Trouble(
        cause=Cause(WORKSPACES.ref_to(workspace), replica.of_set.cause_code(code)),
        kind=kind,
        is_out=replica.of_set.is_out,
        object_created_at=workspace.metadata.creation_timestamp,
        message_fields={
            "object": f"Workspace {workspace.metadata.name}",
            "state": "",
            "pods": "",
            "extent": replica.of_set.describe(),
        },
    )


# --------------------------------------------------------------------
# The problems of a replica's pods, from the pods' own status.


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
    for problem in find_pod_problems(pods, desired=len(pods)):
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
    model = find_container(
        pod, pod.metadata.label(inference_sets.WORKSPACE_LABEL) or workload_name(pod)
    )
    if (
        problem.code in END_CODES - {OUT_OF_MEMORY}
        and model is not None
        and problem.container != model.name
    ):
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
        created = {
            pod.metadata.name: pod.metadata.creation_timestamp for pod in replica.counted_pods
        }
        since = created.get(worst.pod)
    is_lost = worst.kind is TroubleKind.LOST and worst.code == "NotReady"
    code = "OutOfMemory" if "OOMKilled" in worst.text else "Lost" if is_lost else worst.code
    trouble = replica_trouble(replica, code, worst.kind)
    texts = {"object": f"model pod {worst.pod}", "state": state, "pods": more}
    return replace(
        trouble,
        is_crash=worst.is_crash,
        since=since,
        message_fields={**trouble.message_fields, **texts},
        foreign_text=worst.foreign_text,
    )


# --------------------------------------------------------------------
# The lost Nodes of a replica that has served.


def lost_nodes_of(replica: ModelReplica, lost: Mapping[str, Condition]) -> tuple[str, ...]:
    """
    Return the lost Nodes on which a replica has served, by its pods or, without any there, by KAITO.
    """
    if not has_served(replica.workspace):
        return ()
    used = {pod.spec.node_name for pod in replica.pods}
    if not used - {""}:
        used |= set(replica.workspace.status.worker_nodes or ())
    return tuple(sorted(used & lost.keys()))


def blame_nodes(
    result: CheckResult | None, replica: ModelReplica, lost: Mapping[str, Condition]
) -> CheckResult | None:
    """
    Return the trouble of a replica's lost Node in place of what follows from it.

    A hard error of a pod is a cause of its own.
    """
    names = lost_nodes_of(replica, lost) if lost else ()
    if not names or (isinstance(result, Trouble) and result.kind is TroubleKind.FAILED):
        return result
    first, ready = names[0], lost[names[0]]
    on_it = [pod.metadata.name for pod in replica.pods if pod.spec.node_name == first]
    pods = f", with model pod {abbreviate_list(on_it)} on it" if on_it else ""
    more = f", nor are {len(names) - 1} more of its Nodes" if len(names) > 1 else ""
    trouble = replica_trouble(replica, NODE_NOT_READY, TroubleKind.LOST)
    texts = {"object": f"Node {first}", "state": f"is not Ready ({reason_text(ready)})"}
    return replace(
        trouble,
        cause=Cause(NODES.ref("", first), trouble.cause.code),
        since=ready.last_transition_time,
        message_fields={**trouble.message_fields, **texts, "pods": pods + more},
        foreign_text=ready.message or "",
        nodes=frozenset(names),
    )
