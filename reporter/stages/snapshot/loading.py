"""
Select the model pods that serve a metrics page, while they load their model and afterwards.
"""

from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import CREATED_BY_LABEL
from reporter.model.kinds.core.pods import Pod


POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"
"""
Set by StatefulSets. Of a model that spans several pods only pod 0 has a server (KAITO, multi-node
inference).
"""

TERMINAL_PHASES = frozenset({"Succeeded", "Failed"})


def is_loading(pod: ApiObject) -> bool:
    """
    Return whether this is a model pod with a running container that is not Ready yet.
    """
    # Most pods are Ready, so that is checked first.
    if not isinstance(pod, Pod) or pod.is_ready or not _is_model_server(pod):
        return False
    statuses = pod.status.container_statuses
    return not statuses or any(each.state.running is not None for each in statuses)


def is_serving(pod: ApiObject) -> bool:
    """
    Return whether this is a model pod that is Ready.
    """
    return isinstance(pod, Pod) and pod.is_ready and _is_model_server(pod)


def _is_model_server(pod: Pod) -> bool:
    meta = pod.metadata
    if not meta.label(CREATED_BY_LABEL) or meta.label(POD_INDEX_LABEL) not in {"", "0"}:
        return False
    if meta.deletion_timestamp is not None:
        return False
    # The address of a pod in the host network is its node's, where anything may listen at the
    # port; KAITO creates no such pods.
    return not pod.spec.host_network and pod.status.phase not in TERMINAL_PHASES
