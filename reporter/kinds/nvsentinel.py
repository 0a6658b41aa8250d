"""
NVSentinel's HealthEvents: faults of nodes and their ends, as objects of another project's kind.

The fields and their names in JSON are those of its protobuf (NVIDIA/NVSentinel,
data-models/protobufs/health_event.proto). Name and version of the resource are not settled there.
"""

from typing import Annotated

from msgspec import Meta, field
from msgspec.structs import fields

from reporter import PROGRAM_NAME
from reporter.kinds import health_events, objects
from reporter.kinds.api_names import NVSENTINEL_KINDS
from reporter.kinds.resource_kind import ResourceKind


VERSIONS = ("v1", "v1beta1", "v1alpha1")

INERT_STRATEGIES = frozenset(
    {health_events.ProcessingStrategy.STORE_ONLY.value, 2, "STORE_AND_ANALYSE", 3}
)
"""
The strategies that trigger nothing, by name and by number. Unspecified means EXECUTE_REMEDIATION.
"""

_NUMBERS = {
    health_events.RecommendedAction.NONE.value: 0,
    health_events.ProcessingStrategy.STORE_ONLY.value: 2,
}


class NodeHealthEventSpec(objects.ApiStruct, frozen=True, kw_only=True):
    """
    A fault of a node, or its end.

    An absent field has the zero value of the protobuf, as NVSentinel reads it: an object that lost
    its strategy to a CRD without one triggers remediation.
    *is_healthy* is never left out: without it, the end of a fault reads as another one.
    *metadata*: what other fields have no place for; here the subject, the episode and its owner.
    *recommended_action*, *processing_strategy*: numbers in objects that NVSentinel has rewritten.
    """

    agent: str = ""
    component_class: str = ""
    check_name: str
    is_fatal: bool = False
    is_healthy: bool = False
    message: str = ""
    generated_timestamp: objects.Timestamp
    node_name: Annotated[str, Meta(min_length=1)]
    metadata: dict[str, str] = field(default_factory=dict)
    error_code: tuple[str, ...] = ()
    entities_impacted: tuple[health_events.Entity, ...] = ()
    recommended_action: str | int = 0
    processing_strategy: str | int = 0
    version: int = 0

    @property
    def triggers_nothing(self) -> bool:
        """
        True if NVSentinel does not act on the object.

        An unspecified strategy triggers remediation, so this is False for it.
        """
        return self.processing_strategy in INERT_STRATEGIES


def find_altered_field(meant: NodeHealthEventSpec, stored: NodeHealthEventSpec) -> str:
    """
    Return the first field, as its CRD names it, that was not stored as it was meant; "" if all were.
    """
    for each in fields(meant):
        values = (getattr(spec, each.name) for spec in (meant, stored))
        before, after = (_NUMBERS.get(v, v) if isinstance(v, str) else v for v in values)
        if before != after:
            return f"spec.{each.encode_name}"
    return ""


class NodeHealthEvent(objects.WrittenObject, frozen=True):
    """A fault of a node as this program writes it for NVSentinel, in its kind."""

    metadata: health_events.HealthEventMetadata
    spec: NodeHealthEventSpec


def node_health_events(group_resource: str, namespace: str) -> ResourceKind:
    """
    Return NVSentinel's kind, limited to one namespace and to the objects of this program.

    *group_resource*: the name of its CRD; the resource is one of NVSENTINEL_KINDS.
    """
    resource, _, group = group_resource.partition(".")
    return ResourceKind(
        resource=resource,
        group=group,
        versions=VERSIONS,
        kind=NVSENTINEL_KINDS[resource],
        type=NodeHealthEvent,
        affects=objects.affects_nothing,
        namespace=namespace,
        label_selector=f"{health_events.MANAGED_BY_LABEL}={PROGRAM_NAME}",
        tracks_deletions=False,
    )
