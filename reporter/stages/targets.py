"""
Which pods are read: those that load a model, in namespaces that are judged.
"""

from collections.abc import Iterator

from reporter.model.kinds import NAMESPACES, PODS
from reporter.model.objects import Namespace, Pod
from reporter.stages.indexes import loading_in
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import is_harness


def targets(snapshot: Snapshot) -> Iterator[Pod]:
    for each in snapshot.all(NAMESPACES):
        if isinstance(each, Namespace) and is_harness(each):
            for pod in snapshot.find(PODS, Pod, loading_in(each.metadata.name)):
                if pod.status.pod_ip:
                    yield pod
