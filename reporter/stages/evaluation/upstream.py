"""The order in which subjects are evaluated when a pass may be cut: suppressing layers first."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

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
        for subject in sorted(
            [each for each in subjects if each.layer is layer], key=attrgetter("namespace", "name")
        )
    ]


def split_into_batches(subjects: Sequence[Subject], size: int) -> Iterator[Sequence[Subject]]:
    """
    Yield batches of at most *size* subjects; a namespace that fits into one is not divided.

    A pass may be cut between two batches. If that divided a namespace in which many InferenceSets
    fail at once, the first few would get Events of their own before a group can form.
    """
    batch: list[Subject] = []
    for _, same in groupby(subjects, key=lambda subject: (subject.layer, subject.namespace)):
        namespace = list(same)
        if batch and len(batch) + len(namespace) > size:
            yield batch
            batch = []
        batch += namespace
        while len(batch) > size:
            yield batch[:size]
            batch = batch[size:]
    if batch:
        yield batch


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
