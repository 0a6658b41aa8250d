"""
The subjects that are being deleted: they are evaluated no longer, but still there.
"""

from collections.abc import Iterator

from reporter.model.enums import Layer
from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS, InferenceSet
from reporter.model.subjects import Subject
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.snapshot.subjects import (
    HARNESS_LABEL,
    has_subject,
    is_workload_namespace,
)


def find_terminating(snapshot: Snapshot) -> frozenset[Subject]:
    """
    Return workload namespaces and InferenceSets that are being deleted, with all of such a namespace.
    """
    if NAMESPACES.resource not in snapshot.tables:
        return frozenset()
    ending = frozenset(_terminating_namespaces(snapshot))
    found = {Subject(Layer.MODELHARNESS, name) for name in ending}
    if INFERENCE_SETS.resource not in snapshot.tables:
        return frozenset(found)
    for each in snapshot.all(INFERENCE_SETS):
        meta = each.metadata
        is_ending = meta.namespace in ending or not has_subject(each)
        if (
            isinstance(each, InferenceSet)
            and is_ending
            and _was_workload(snapshot, meta.namespace)
        ):
            found.add(Subject(Layer.MODELDEPLOYMENT, meta.namespace, meta.name))
    return frozenset(found)


def _terminating_namespaces(snapshot: Snapshot) -> Iterator[str]:
    label, value = HARNESS_LABEL
    for each in snapshot.all(NAMESPACES):
        is_labelled = isinstance(each, Namespace) and each.metadata.label(label) == value
        if is_labelled and isinstance(each, Namespace) and not is_workload_namespace(each):
            yield each.metadata.name


def _was_workload(snapshot: Snapshot, namespace: str) -> bool:
    label, value = HARNESS_LABEL
    found = snapshot.peek(NAMESPACES, Namespace, "", namespace)
    return found is not None and found.metadata.label(label) == value
