"""
The order in which subjects are evaluated when a pass may be cut: suppressing layers first.
"""

from reporter.model.enums import Layer
from reporter.model.subjects import Subject


def upstream_first(subjects: frozenset[Subject]) -> list[Subject]:
    """
    Return the subjects sorted, layer by layer in the order of announcing.

    The catalogue refuses upward suppressions, so what may suppress a finding comes before it.
    """
    return [
        subject
        for layer in Layer
        for subject in sorted(each for each in subjects if each.layer is layer)
    ]


def with_upstream(urgent: frozenset[Subject], waiting: frozenset[Subject]) -> frozenset[Subject]:
    """
    Return the *urgent* subjects and, of the *waiting*, those whose findings may suppress theirs.
    """
    namespaces = {s.namespace for s in urgent}
    return urgent.union(
        s
        for s in waiting
        if s.layer is Layer.CLUSTER
        or (s.layer is Layer.MODELHARNESS and s.namespace in namespaces)
    )
