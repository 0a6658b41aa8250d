"""Nodes that were Ready and are not, as the cause of what is wrong with the pods on them."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from reporter.kinds.core import LOST_KEY, NODES, Node, Pod
from reporter.kinds.objects import Condition
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import abbreviate_list
from reporter.model.verdicts import Cause, Trouble
from reporter.resources.check_result import CheckResult
from reporter.snapshot.snapshot import Snapshot


NODE_NOT_READY = "NodeNotReady"
"""The code of what is wrong because a Node was lost."""

OWN_CAUSES = (TroubleKind.FAILED, TroubleKind.DECLARED)


def find_lost_nodes(snapshot: Snapshot) -> Mapping[str, Condition]:
    """
    Return the condition Ready of each lost Node by its name; none while Nodes cannot be read.
    """
    if not snapshot.has_synced(NODES):
        return {}
    lost = snapshot.by_index(NODES, Node, LOST_KEY)
    return {node.metadata.name: node.lost_by for node in lost if node.lost_by is not None}


def with_lost_nodes(
    result: CheckResult | None, snapshot: Snapshot, pods: Sequence[Pod]
) -> CheckResult | None:
    """
    Return the trouble of a workload bound to lost Nodes, if all its pods that are not Ready are on them.

    A hard error of a pod is a cause of its own, and so is what a human declared.
    """
    if not isinstance(result, Trouble) or result.kind in OWN_CAUSES:
        return result
    unready = [pod.spec.node_name for pod in pods if not pod.is_ready]
    lost = frozenset(find_lost_nodes(snapshot))
    if not unready or not lost.issuperset(unready):
        return result
    text = f"{result.message_fields['pods']}; {describe_lost(unready)}"
    fields = {**result.message_fields, "pods": text}
    extent = result.cause.code.partition(".")[0]
    cause = Cause(result.cause.object, f"{extent}.{NODE_NOT_READY}")
    return replace(result, cause=cause, message_fields=fields, nodes=frozenset(unready))


def describe_lost(names: Iterable[str]) -> str:
    """Return the half sentence that these Nodes are not Ready; of many only some are named."""
    distinct = sorted(set(names))
    noun, verb = ("Nodes", "are") if len(distinct) > 1 else ("Node", "is")
    return f"{noun} {abbreviate_list(distinct)} {verb} not Ready"
