"""NVSentinel's HealthEvents, and a CRD for them as its documents describe the fields."""

from typing import Any

from reporter.history.node_events import make_fault
from reporter.kinds.api_names import NVSENTINEL_KINDS, NVSENTINEL_RESOURCE
from reporter.kinds.health_events import HealthEventMetadata, HealthEventSpec
from reporter.kinds.nvsentinel import NodeHealthEvent, NodeHealthEventSpec, node_health_events
from tests.support.health_events import NAMESPACE


KIND = node_health_events(NVSENTINEL_RESOURCE, NAMESPACE)
NODE_ROOT = f"/apis/{KIND.group}/v1/namespaces/{NAMESPACE}/{KIND.resource}"
ACTIONS = {
    "NONE": 0,
    "COMPONENT_RESET": 2,
    "CONTACT_SUPPORT": 5,
    "RUN_FIELDDIAG": 6,
    "RESTART_VM": 15,
    "RESTART_BM": 24,
    "REPLACE_VM": 25,
    "RUN_DCGMEUD": 26,
    "CUSTOM": 27,
    "UNKNOWN": 99,
}
STRATEGIES = {
    "UNSPECIFIED": 0,
    "EXECUTE_REMEDIATION": 1,
    "STORE_ONLY": 2,
    "STORE_AND_ANALYSE": 3,
}
_STRING, _BOOLEAN = {"type": "string"}, {"type": "boolean"}
_TEXTS = {"type": "object", "additionalProperties": _STRING}
_OVERRIDES = {"type": "object", "properties": {"force": _BOOLEAN, "skip": _BOOLEAN}}


def _enum(values: dict[str, int]) -> dict[str, Any]:
    """An enum of the protobuf, whose JSON is its name or its number."""
    return {"x-kubernetes-int-or-string": True, "enum": [*values.values(), *values]}


_ENTITY = {"type": "object", "properties": {"entityType": _STRING, "entityValue": _STRING}}
SPEC_FIELDS = {
    "version": {"type": "integer"},
    "agent": _STRING,
    "componentClass": _STRING,
    "checkName": _STRING,
    "isFatal": _BOOLEAN,
    "isHealthy": _BOOLEAN,
    "message": _STRING,
    "recommendedAction": _enum(ACTIONS),
    "errorCode": {"type": "array", "items": _STRING},
    "entitiesImpacted": {"type": "array", "items": _ENTITY},
    "metadata": _TEXTS,
    "generatedTimestamp": {"type": "string", "format": "date-time"},
    "nodeName": _STRING,
    "quarantineOverrides": _OVERRIDES,
    "drainOverrides": _OVERRIDES,
    "processingStrategy": _enum(STRATEGIES),
    "id": _STRING,
    "customRecommendedAction": _STRING,
}
STATUS_FIELDS = {
    "nodeQuarantined": _STRING,
    "quarantineFinishTimestamp": _STRING,
    "userPodsEvictionStatus": {
        "type": "object",
        "properties": {"status": _STRING, "message": _STRING},
    },
    "drainFinishTimestamp": _STRING,
    "faultRemediated": {"type": "boolean", "nullable": True},
    "lastRemediationTimestamp": _STRING,
    "spanIds": _TEXTS,
}


def a_node_crd(resource: str = NVSENTINEL_RESOURCE, version: str = "v1") -> dict[str, Any]:
    """Return a CRD of NVSentinel's, which requires the name of a node as its API does."""
    plural, _, group = resource.partition(".")
    kind = NVSENTINEL_KINDS[plural]
    spec = {
        "type": "object",
        "required": ["nodeName", "checkName"],
        "properties": SPEC_FIELDS,
    }
    status = {"type": "object", "properties": STATUS_FIELDS}
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    names = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": kind.lower(),
    }
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": resource},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [served]},
    }


def a_node_event(name: str, spec: HealthEventSpec | NodeHealthEventSpec) -> NodeHealthEvent:
    made = make_fault(spec) if isinstance(spec, HealthEventSpec) else spec
    metadata = HealthEventMetadata(
        name=name, namespace=NAMESPACE, uid=f"uid-{name}", resource_version="7"
    )
    return NodeHealthEvent(metadata=metadata, spec=made)
