"""NodePools of Karpenter, of which KAITO makes one for each Workspace."""

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.karpenter.node_claims import affects, index_keys


class NodePoolStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class NodePool(ApiObject, frozen=True):
    """A NodePool; it is cluster-scoped, and has the labels of its NodeClaims."""

    status: NodePoolStatus = NodePoolStatus()


NODE_POOLS = ResourceKind(
    resource="nodepools",
    group="karpenter.sh",
    versions=("v1",),
    kind="NodePool",
    type=NodePool,
    index_keys=index_keys,
    affects=affects,
)
