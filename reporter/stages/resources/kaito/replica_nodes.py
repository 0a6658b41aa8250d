"""The lost Nodes of a replica that has served."""

from collections.abc import Mapping

from msgspec.structs import replace

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.core.nodes import NODES
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.stages.resources.check_result import CheckResult
from reporter.stages.resources.conditions import reason_text
from reporter.stages.resources.kaito.replicas import ModelReplica, has_served, replica_trouble
from reporter.stages.text.phrases import abbreviate_list


NODE_NOT_READY = "NodeNotReady"


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
        cause=Cause(ObjectRef(NODES.group_resource, "", first), trouble.cause.code),
        since=ready.last_transition_time,
        message_fields={**trouble.message_fields, **texts, "pods": pods + more},
        foreign_text=ready.message or "",
        nodes=frozenset(names),
    )
