"""Nodes."""

from datetime import timedelta

from msgspec.structs import force_setattr

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.objects import ApiObject, Metadata
from reporter.model.kinds.base.ownership import ALL_HARNESSES, ALL_MODELS
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


FIRST_READY_WITHIN = timedelta(seconds=2)
"""
Time after its creation within which the first Ready condition of a Node is written.

The kubelet registers a Node with all its conditions (kubernetes, pkg/kubelet/kubelet_node_status.go);
times are whole seconds.
"""


class NodeMetadata(Metadata, frozen=True):
    """Keeps no labels: a Node has dozens of them, which nobody reads here."""

    def __post_init__(self) -> None:
        force_setattr(self, "labels", None)
        super().__post_init__()


class NodeStatus(ApiStruct, frozen=True):
    """Keeps the condition Ready alone, so that a heartbeat of the kubelet is no change."""

    conditions: tuple[Condition, ...] | None = ()

    def __post_init__(self) -> None:
        ready = find_condition(self.conditions, "Ready")
        force_setattr(self, "conditions", (ready,) if ready is not None else ())


class Node(ApiObject, frozen=True):
    metadata: NodeMetadata
    status: NodeStatus = NodeStatus()

    @property
    def lost_by(self) -> Condition | None:
        """
        The condition Ready of a Node that was Ready and is not; None for any other.

        The kubelet writes False, and the node lifecycle controller Unknown once the kubelet is silent
        (kubernetes, pkg/controller/nodelifecycle/node_lifecycle_controller.go). A Node that is being
        deleted goes on purpose.
        """
        ready, created = find_condition(self.status.conditions, "Ready"), self.metadata
        if ready is None or ready.status == "True" or created.deletion_timestamp is not None:
            return None
        changed, since = ready.last_transition_time, created.creation_timestamp
        if changed is None or since is None or changed <= since + FIRST_READY_WITHIN:
            return None
        return ready


LOST_KEY = "lost"


def index_keys(node: Node) -> tuple[str, ...]:
    return (LOST_KEY,) if node.lost_by is not None else ()


def affects(_: Node) -> tuple[Subject, ...]:
    """Return all subjects: the pods of any of them may run on the Node."""
    return (CLUSTER_SUBJECT, ALL_HARNESSES, ALL_MODELS)


NODES = ResourceKind(
    resource="nodes",
    group="",
    versions=("v1",),
    kind="Node",
    type=Node,
    index_keys=index_keys,
    affects=affects,
    tracks_deletions=False,
)
