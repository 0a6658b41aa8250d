"""
NVSentinel's HealthEvents: faults of nodes and their ends, as objects of another project's kind.

The fields and their names in JSON are those of its protobuf (NVIDIA/NVSentinel,
data-models/protobufs/health_event.proto). Name and version of the resource are not settled there.
"""

from typing import Annotated

from msgspec import Meta

from reporter import PROGRAM_NAME
from reporter.model.kinds.base.api_struct import ApiStruct, Timestamp
from reporter.model.kinds.base.keys import no_index_keys
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.productionstack.health_events import (
    MANAGED_BY_LABEL,
    Entity,
    HealthEventMetadata,
    ProcessingStrategy,
    RecommendedAction,
)
from reporter.model.subjects import Subject


KINDS = {"healtheventresources": "HealthEventResource", "healthevents": "HealthEvent"}
"""
The kinds by their resources: that of its chart, and that of its design (ADR-027).
"""

DEFAULT_RESOURCE = "healtheventresources.healthevents.dgxc.nvidia.com"
VERSIONS = ("v1", "v1beta1", "v1alpha1")


class NodeHealthEventSpec(ApiStruct, frozen=True):
    """
    A fault of a node, or its end.

    *is_healthy* is never left out: without it, the end of a fault reads as another one.
    *metadata*: what other fields have no place for; here the subject, the episode and its owner.
    *recommended_action*, *processing_strategy*: numbers in objects that NVSentinel has rewritten.
    """

    agent: str
    component_class: str
    check_name: str
    is_fatal: bool
    is_healthy: bool
    message: str
    generated_timestamp: Timestamp
    node_name: Annotated[str, Meta(min_length=1)]
    metadata: dict[str, str]
    error_code: tuple[str, ...] = ()
    entities_impacted: tuple[Entity, ...] = ()
    recommended_action: str | int = RecommendedAction.NONE.value
    processing_strategy: str | int = ProcessingStrategy.STORE_ONLY.value
    version: int = 1


class NodeHealthEvent(ApiObject, frozen=True):
    metadata: HealthEventMetadata
    spec: NodeHealthEventSpec

    @property
    def is_deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None


def affects_nothing(_: NodeHealthEvent) -> tuple[Subject, ...]:
    """
    Return none: no verdict depends on what is only written.
    """
    return ()


def node_health_events(group_resource: str, namespace: str) -> ResourceKind:
    """
    Return the kind that a resource, by the name of its CRD, has in one namespace.
    """
    resource, _, group = group_resource.partition(".")
    return ResourceKind(
        resource=resource,
        group=group,
        versions=VERSIONS,
        kind=KINDS[resource],
        type=NodeHealthEvent,
        index_keys=no_index_keys,
        affects=affects_nothing,
        namespace=namespace,
        label_selector=f"{MANAGED_BY_LABEL}={PROGRAM_NAME}",
        tracks_deletions=False,
    )
