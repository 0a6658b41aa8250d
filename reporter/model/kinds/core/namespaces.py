"""
Namespaces.
"""

from reporter.model.enums import Layer
from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.keys import no_index_keys
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import ALL_HARNESSES
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


class NamespaceStatusFields(ApiStruct, frozen=True):
    phase: str | None = ""


class Namespace(ApiObject, frozen=True):
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
    index_keys=no_index_keys,
    affects=affects,
)
