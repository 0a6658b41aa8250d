"""
Which pods may be loading a model.
"""

from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import CREATED_BY_LABEL
from reporter.model.kinds.core.pods import Pod


POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"
"""
The other pods of a model that spans several have no server (KAITO, multi-node inference).
"""

TERMINAL_PHASES = frozenset({"Succeeded", "Failed"})


def is_loading(pod: ApiObject) -> bool:
    """
    Whether a container of this model pod runs and is not Ready, so that it has a page to say why.
    """
    meta = pod.metadata
    if not meta.label(CREATED_BY_LABEL) or meta.label(POD_INDEX_LABEL) not in {"", "0"}:
        return False
    if not isinstance(pod, Pod) or meta.deletion_timestamp is not None:
        return False
    if pod.spec.host_network:
        # Its address is a node's, behind which anything may listen; KAITO makes none such.
        return False
    if pod.is_ready or pod.status.phase in TERMINAL_PHASES:
        return False
    statuses = pod.status.container_statuses
    return not statuses or any(each.state.running is not None for each in statuses)
