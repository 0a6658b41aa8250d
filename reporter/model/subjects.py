"""
The subjects that reasons are about.

Made and looked up by the hundred thousand in a pass over a large cluster, so these are structs that
keep their hash: five times faster than dataclasses. None can be part of a cycle (gc=False).
"""

from msgspec import Struct

from reporter.model.enums import Layer, Reason


class Subject(Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """
    The cluster, one workload namespace, or one InferenceSet (or, without a name, many of one namespace).
    """

    layer: Layer
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in (self.layer, self.namespace, self.name) if part)


CLUSTER_SUBJECT = Subject(Layer.CLUSTER)


class FindingKey(Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """
    The identity of a finding, with a state and an Event of its own: a reason about a subject.

    *item* distinguishes several findings of one reason about one subject: the missing CRDs, the checks.
    """

    subject: Subject
    reason: Reason
    item: str = ""

    def __str__(self) -> str:
        return f"{self.subject} {self.reason}" + (f" {self.item}" if self.item else "")
