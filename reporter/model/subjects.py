"""
The subjects that reasons are about.

Made and looked up by the hundred thousand in a pass over a large cluster, so these are structs that
keep their hash: five times faster than dataclasses. None can be part of a cycle (gc=False).
"""

from msgspec import Struct

from reporter.model.enums import Layer, Reason


class Subject(Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """
    The cluster, one workload namespace, or one model (or, without a name, many of one namespace).

    *name*: that of an object of the layer's plain kind, such as an InferenceSet. Of another kind it is
    ``KIND/NAME``, as kubectl writes it, so that objects of two kinds may have the same name.
    """

    layer: Layer
    namespace: str = ""
    name: str = ""

    @property
    def kind(self) -> str:
        """The kind of the object; empty for the layer's plain kind."""
        return self.name.partition("/")[0] if is_qualified(self.name) else ""

    @property
    def object_name(self) -> str:
        """The name of the object; empty if the subject stands for many."""
        return self.name.rpartition("/")[2]

    @property
    def is_unnamed(self) -> bool:
        """True for a namespace, the cluster, and a subject that stands for many."""
        return not self.name or self.name[-1] == "/"

    @property
    def all_of_kind(self) -> "Subject":
        """The subject that stands for all of this kind in the namespace."""
        return Subject(self.layer, self.namespace, qualified_name(self.kind, ""))

    def __str__(self) -> str:
        return "/".join(part for part in (self.layer, self.namespace, self.name) if part)


def qualified_name(kind: str, name: str) -> str:
    """Return the name of a subject. *kind*: empty for the layer's plain kind."""
    return f"{kind}/{name}" if kind else name


def is_qualified(name: str) -> bool:
    """
    Return whether the name of a subject has its kind, so that it is not the layer's plain one.
    """
    return "/" in name


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
