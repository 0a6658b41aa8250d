"""Select the model pods that serve a metrics page, while they load their model and afterwards."""

from reporter.kinds.core import Pod
from reporter.kinds.objects import CREATED_BY_LABEL, ApiObject


POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"

NOT_READ = "its page is not read, as it is in the host network: its address is its node's"

TERMINAL_PHASES = frozenset({"Succeeded", "Failed"})


def is_loading(pod: ApiObject) -> bool:
    """Return whether this is a model pod with a running container that is not Ready yet."""
    # Most pods are Ready, so that is checked first.
    if not isinstance(pod, Pod) or pod.is_ready or not _is_model_server(pod):
        return False
    statuses = pod.status.container_statuses
    return not statuses or any(each.state.running is not None for each in statuses)


def is_serving(pod: ApiObject) -> bool:
    """Return whether this is a model pod that is Ready."""
    return isinstance(pod, Pod) and pod.is_ready and _is_model_server(pod)


def has_page(pod: ApiObject) -> bool:
    """
    Return whether the page of a model pod may be read.

    The address of a pod in the host network is its node's, where anything may listen at the port.
    KAITO creates no such pods; what others made of them is not checked.
    """
    return isinstance(pod, Pod) and not pod.spec.host_network


def is_leader_pod(pod: Pod) -> bool:
    """
    Return whether a pod takes requests; in a replica of several nodes only pod 0 runs a server.

    StatefulSets set the pod-index label since Kubernetes 1.28; before that only the name has the index.
    """
    index = pod.metadata.label(POD_INDEX_LABEL) or pod.metadata.name.rpartition("-")[2]
    return index == "0" or not index.isdecimal()


def _is_model_server(pod: Pod) -> bool:
    meta = pod.metadata
    if not meta.label(CREATED_BY_LABEL) or not is_leader_pod(pod):
        return False
    return meta.deletion_timestamp is None and pod.status.phase not in TERMINAL_PHASES
