"""Metadata, and what every API object has."""

from typing import ClassVar, TypeAlias

from reporter.model.kinds.base.api_struct import ApiStruct, InterningApiStruct, Timestamp


NamespacedName: TypeAlias = tuple[str, str]
"""Namespace, "" for cluster-scoped objects, and name."""


class OwnerReference(InterningApiStruct, frozen=True):
    """The object that owns this one; *controller* is true for at most one owner."""

    interned_fields: ClassVar[tuple[str, ...]] = ("kind", "name")

    kind: str
    name: str
    controller: bool | None = None


class Metadata(InterningApiStruct, frozen=True):
    """The read part of metav1.ObjectMeta."""

    interned_fields: ClassVar[tuple[str, ...]] = ("namespace", "labels", "creation_timestamp")

    name: str
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    creation_timestamp: Timestamp | None = None
    deletion_timestamp: Timestamp | None = None
    labels: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None

    def label(self, name: str) -> str:
        """Return the value of a label, "" if it is not set."""
        return (self.labels or {}).get(name, "")


class AnnotatedMetadata(Metadata, frozen=True):
    """Metadata of the few kinds whose annotations are read."""

    annotations: dict[str, str] | None = None

    def annotation(self, name: str) -> str | None:
        """Return the value of an annotation, or None."""
        return (self.annotations or {}).get(name)


class ApiObject(ApiStruct, frozen=True):
    """The base of every watched object."""

    metadata: Metadata
