"""
What a reason is about.
"""

from dataclasses import dataclass

from reporter.model.words import Layer, Reason


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """
    The cluster, one workload namespace, or one InferenceSet (or, without a name, many of one namespace).
    """

    layer: Layer
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in (self.layer, self.namespace, self.name) if part)


CLUSTER = Subject(Layer.CLUSTER)


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """
    What has a state and an Event of its own: a reason about a subject.

    *item* tells apart what one reason says separately about one subject: the missing CRDs.
    """

    subject: Subject
    reason: Reason
    item: str = ""

    def __str__(self) -> str:
        return f"{self.subject} {self.reason}" + (f" {self.item}" if self.item else "")
