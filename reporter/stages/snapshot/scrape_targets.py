"""
Which pods are read: those that load a model, in namespaces that are judged.
"""

from collections.abc import Iterator

from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.stages.snapshot.index_keys import loading_pods_key
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.snapshot.subjects import is_workload_namespace


def find_scrape_targets(snapshot: Snapshot) -> Iterator[Pod]:
    for each in snapshot.all(NAMESPACES):
        if isinstance(each, Namespace) and is_workload_namespace(each):
            for pod in snapshot.by_index(PODS, Pod, loading_pods_key(each.metadata.name)):
                if pod.status.pod_ip:
                    yield pod
