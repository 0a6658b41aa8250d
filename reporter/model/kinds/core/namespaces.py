"""Namespaces."""

from msgspec.structs import force_setattr

from reporter.model.enums import Layer
from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.objects import ApiObject, Metadata
from reporter.model.kinds.base.ownership import ALL_HARNESSES
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.base.silencing import SILENCE_PREFIX, silence_keys
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


class NamespaceStatusFields(ApiStruct, frozen=True):
    phase: str | None = ""


class NamespaceMetadata(Metadata, frozen=True):
    """Keeps only the annotations of a silence: the others change often."""

    annotations: dict[str, str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.annotations:
            kept = {k: v for k, v in self.annotations.items() if k.startswith(SILENCE_PREFIX)}
            force_setattr(self, "annotations", kept or None)


class Namespace(ApiObject, frozen=True):
    metadata: NamespaceMetadata
    status: NamespaceStatusFields = NamespaceStatusFields()


def affects(namespace: Namespace) -> tuple[Subject, ...]:
    """
    Return the cluster, every harness and the models of the namespace.

    A harness may refer to any namespace: that of its authorizer, or those that a policy lets in.
    """
    return (
        CLUSTER_SUBJECT,
        ALL_HARNESSES,
        Subject(Layer.MODELDEPLOYMENT, namespace.metadata.name),
    )


NAMESPACES = ResourceKind(
    resource="namespaces",
    group="",
    versions=("v1",),
    kind="Namespace",
    type=Namespace,
    index_keys=silence_keys,
    affects=affects,
)
