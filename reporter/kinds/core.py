"""The core kinds: Namespaces, Nodes, Pods, and Services, of which only the existence is read."""

from datetime import timedelta
from sys import intern
from typing import ClassVar

import msgspec
from msgspec.structs import force_setattr, replace

from reporter.kinds import objects
from reporter.kinds.resource_kind import SILENCE_PREFIX, ResourceKind, silence_keys
from reporter.kinds.shared_values import shared_time
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


class NamespaceMetadata(objects.Metadata, frozen=True):
    """Metadata that keeps only the annotations of a silence: the others change often."""

    annotations: dict[str, str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.annotations:
            kept = {k: v for k, v in self.annotations.items() if k.startswith(SILENCE_PREFIX)}
            force_setattr(self, "annotations", kept or None)


class Namespace(objects.ApiObject, frozen=True):
    """A Namespace, with its labels; of its annotations only those of a silence are kept."""

    metadata: NamespaceMetadata


def namespace_affects(namespace: Namespace) -> tuple[Subject, ...]:
    """
    Return the cluster, every harness and the models of the namespace.

    A harness may refer to any namespace: that of its authorizer, or those that a policy lets in.
    """
    return (
        CLUSTER_SUBJECT,
        objects.ALL_HARNESSES,
        Subject(Layer.MODELDEPLOYMENT, namespace.metadata.name),
    )


NAMESPACES = ResourceKind(
    resource="namespaces",
    group="",
    versions=("v1",),
    kind="Namespace",
    type=Namespace,
    index_keys=silence_keys,
    affects=namespace_affects,
)


FIRST_READY_WITHIN = timedelta(seconds=2)
"""
Time after its creation within which the first Ready condition of a Node is written.

The kubelet registers a Node with all its conditions (kubernetes, pkg/kubelet/kubelet_node_status.go);
times are whole seconds.
"""


class NodeMetadata(objects.Metadata, frozen=True):
    """Metadata without labels: a Node has dozens of them, which nobody reads here."""

    def __post_init__(self) -> None:
        force_setattr(self, "labels", None)
        super().__post_init__()


class NodeStatus(objects.ApiStruct, frozen=True):
    """The condition Ready of a Node alone, so that a heartbeat of the kubelet is no change."""

    conditions: tuple[objects.Condition, ...] | None = ()

    def __post_init__(self) -> None:
        ready = objects.find_condition(self.conditions, "Ready")
        force_setattr(self, "conditions", (ready,) if ready is not None else ())


class Node(objects.ApiObject, frozen=True):
    """A Node, reduced to its name, times and Ready condition."""

    metadata: NodeMetadata
    status: NodeStatus = NodeStatus()

    @property
    def lost_by(self) -> objects.Condition | None:
        """
        The condition Ready of a Node that was Ready and is not; None for any other.

        The kubelet writes False, and the node lifecycle controller Unknown once the kubelet is silent
        (kubernetes, pkg/controller/nodelifecycle/node_lifecycle_controller.go). A Node that is being
        deleted goes on purpose.
        """
        ready, created = objects.find_condition(self.status.conditions, "Ready"), self.metadata
        if ready is None or ready.status == "True" or created.deletion_timestamp is not None:
            return None
        changed, since = ready.last_transition_time, created.creation_timestamp
        if changed is None or since is None or changed <= since + FIRST_READY_WITHIN:
            return None
        return ready


LOST_KEY = "lost"


def node_keys(node: Node) -> tuple[str, ...]:
    """Index the Nodes that were lost under LOST_KEY, and no others."""
    return (LOST_KEY,) if node.lost_by is not None else ()


def node_affects(_: Node) -> tuple[Subject, ...]:
    """Return all subjects: the pods of any of them may run on the Node."""
    return (CLUSTER_SUBJECT, objects.ALL_HARNESSES, objects.ALL_MODELS)


NODES = ResourceKind(
    resource="nodes",
    group="",
    versions=("v1",),
    kind="Node",
    type=Node,
    index_keys=node_keys,
    affects=node_affects,
    tracks_deletions=False,
)


class ContainerStateWaiting(objects.ApiStruct, frozen=True):
    """
    The state of a container that does not run yet, or not again.

    *reason*: by kubelet, such as ImagePullBackOff or CrashLoopBackOff.
    """

    reason: str | None = ""
    message: str | None = ""


class ContainerStateRunning(objects.ApiStruct, frozen=True):
    """The state of a container that runs; *started_at* is of this run."""

    started_at: objects.Timestamp | None = None


class ContainerStateTerminated(objects.ApiStruct, frozen=True):
    """
    The state of a container that has ended. *reason*: by kubelet, such as OOMKilled, Error or Completed.
    """

    reason: str | None = ""
    message: str | None = ""
    exit_code: int = 0
    started_at: objects.Timestamp | None = None


class ContainerState(objects.ApiStruct, frozen=True):
    """The state of a container. At most one of the three is set; none means that it waits."""

    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


NO_STATE = ContainerState()
"""The state before the first restart, which all containers share."""


class ContainerStatus(objects.InterningApiStruct, frozen=True):
    """
    The status of one container of a pod.

    *restart_count*: of the pod's lifetime. *last_state*: how the run before this one ended; empty
    before the first restart.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = NO_STATE
    last_state: ContainerState = NO_STATE

    def __post_init__(self) -> None:
        super().__post_init__()
        # Nearly all containers were never restarted, and times of a start are often those of a condition.
        if self.last_state == NO_STATE:
            force_setattr(self, "last_state", NO_STATE)
        running = self.state.running
        if running is not None and running.started_at is not None:
            force_setattr(running, "started_at", shared_time(running.started_at))


KEPT_CONDITION_TYPES = frozenset({"DisruptionTarget", "Ready"})
"""
The conditions that probes read, with PodScheduled where it is not True or the pod has failed; all others
are dropped, a fifth of the memory of a large stack.
"""


class PodStatus(objects.InterningApiStruct, frozen=True):
    """The status of a pod, its conditions reduced to those that are read: see KEPT_CONDITION_TYPES."""

    interned_fields: ClassVar[tuple[str, ...]] = ("phase",)

    phase: str | None = ""
    reason: str | None = ""
    message: str | None = ""
    start_time: objects.Timestamp | None = None
    pod_ip: str | None = msgspec.field(default="", name="podIP")
    conditions: tuple[objects.Condition, ...] | None = ()
    container_statuses: tuple[ContainerStatus, ...] | None = ()
    init_container_statuses: tuple[ContainerStatus, ...] | None = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start_time is not None:
            force_setattr(self, "start_time", shared_time(self.start_time))
        kept = [
            each
            for each in self.conditions or ()
            if each.type in KEPT_CONDITION_TYPES
            or (each.type == "PodScheduled" and (self.phase == "Failed" or each.status != "True"))
        ]
        force_setattr(self, "conditions", tuple(kept))

    def condition(self, kind: str) -> objects.Condition | None:
        """Return the condition of this type; always None for one that was dropped."""
        return objects.find_condition(self.conditions, kind)


class PodSpec(objects.InterningApiStruct, frozen=True):
    """
    The spec of a pod.

    *node_name*: empty until it is scheduled. *host_network*: its address is that of the node.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ("node_name",)

    node_name: str = ""
    host_network: bool = False


class Pod(objects.ApiObject, frozen=True):
    """A pod, with the parts of spec and status that tell whether it serves and why not."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def is_ready(self) -> bool:
        """True if the condition Ready is True; False also for a pod that has none yet."""
        # Inlined `find_condition`: a full pass asks this several times of each pod.
        for each in self.status.conditions or ():
            if each.type == "Ready":
                return each.status == "True"
        return False


FIRST_STATUS_WITHIN = timedelta(seconds=2)
"""
Time after startTime within which kubelet writes the first Ready=False; its times are whole seconds.

A Ready condition that changed later than this has been True before.
"""


def was_ready(pod: Pod) -> bool:
    """Return whether a pod's Ready condition has changed since its first status."""
    ready, started = pod.status.condition("Ready"), pod.status.start_time
    changed = ready.last_transition_time if ready is not None else None
    return changed is not None and started is not None and changed > started + FIRST_STATUS_WITHIN


def container_statuses(pod: Pod) -> tuple[ContainerStatus, ...]:
    """Return the statuses of all containers, init containers first."""
    return (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))


def workload_name(pod: objects.ApiObject) -> str:
    """
    Return the name of the Deployment (or other controller) that a pod belongs to; empty without one.

    A ReplicaSet is named ``<deployment>-<pod-template-hash>`` and labels its pods with that hash
    (kubernetes, pkg/controller/deployment/sync.go), so no right to read ReplicaSets is needed.
    """
    for owner in pod.metadata.owner_references or ():
        if owner.controller:
            suffix = "-" + pod.metadata.label("pod-template-hash")
            return owner.name.removesuffix(suffix) if owner.kind == "ReplicaSet" else owner.name
    return ""


def pod_keys(pod: Pod) -> tuple[str, ...]:
    """Index a pod by its workload and by the InferenceSet that KAITO made it for."""
    meta, owner = pod.metadata, workload_name(pod)
    inference_set = meta.label(objects.CREATED_BY_LABEL)
    return (
        *((objects.workload_key(meta.namespace, owner),) if owner else ()),
        *(
            (intern(objects.inference_set_key(meta.namespace, inference_set)),)
            if inference_set
            else ()
        ),
    )


def pod_affects(pod: Pod) -> tuple[Subject, ...]:
    """Return the model, the harness of a Gateway or the cluster that the pod is part of."""
    return (objects.workload_subject(pod),)


def _picker_key_of_pod(pod: Pod) -> str:
    return objects.picker_key(pod.metadata.namespace, workload_name(pod))


PODS = ResourceKind(
    resource="pods",
    group="",
    versions=("v1",),
    kind="Pod",
    type=Pod,
    index_keys=pod_keys,
    affects=pod_affects,
    referrers=(("inferencepools", _picker_key_of_pod),),
    tracks_deletions=False,
)


class Service(objects.ApiObject, frozen=True):
    """A Service, without labels and owners: a cluster has several of them for each model."""


def _bounded(service: Service) -> Service:
    return Service(metadata=replace(service.metadata, labels=None, owner_references=None))


SERVICES = ResourceKind(
    resource="services",
    group="",
    versions=("v1",),
    kind="Service",
    type=Service,
    affects=objects.affects_nothing,  # it matters to the models whose InferencePool names it
    referrers=(("inferencepools", objects.own_picker_key),),
    bounded=_bounded,
)
