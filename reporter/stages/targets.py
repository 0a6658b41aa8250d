"""
Which pods have a page that tells how a model is loading.
"""

from collections.abc import Iterator

from reporter.model.kinds import NAMESPACES, PODS
from reporter.model.objects import Namespace, Pod
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import CREATED_BY, is_harness


POD_INDEX = "apps.kubernetes.io/pod-index"
"""
The other pods of a model that spans several have no server (KAITO, multi-node inference).
"""

ENDED = frozenset({"Succeeded", "Failed"})


def targets(snapshot: Snapshot) -> Iterator[Pod]:
    """
    Those in namespaces that are judged.
    """
    judged: dict[str, bool] = {}
    for pod in snapshot.all(PODS):
        if isinstance(pod, Pod) and is_loading(pod) and pod.status.pod_ip:
            namespace = pod.metadata.namespace
            if namespace not in judged:
                found = snapshot.get(NAMESPACES, Namespace, "", namespace)
                judged[namespace] = found is not None and is_harness(found)
            if judged[namespace]:
                yield pod


def is_loading(pod: Pod) -> bool:
    """
    Whether a container of this model pod runs that may be loading its model.
    """
    meta = pod.metadata
    if not meta.label(CREATED_BY) or meta.label(POD_INDEX) not in {"", "0"}:
        return False
    if meta.deletion_timestamp is not None or pod.ready or pod.status.phase in ENDED:
        return False
    statuses = pod.status.container_statuses
    return not statuses or any(each.state.running is not None for each in statuses)
