"""The fields that field selectors support, for each kind."""

from devcluster.schema.api_errors import Json, bad_request
from devcluster.schema.kinds import ServedKind


_EVENT_FIELDS = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
)
_FIELDS_BY_RESOURCE = {
    "events": _EVENT_FIELDS,
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "namespaces": ("status.phase",),
    "nodes": ("spec.unschedulable",),
    "replicasets.apps": ("status.replicas",),
}


def check_field_label(kind: ServedKind, field: str) -> None:
    """Raise a 400 for a field that the real server does not support."""
    if field == "metadata.name" or (field == "metadata.namespace" and kind.namespaced):
        return
    if field in _FIELDS_BY_RESOURCE.get(kind.group_resource, ()):
        return
    if kind.is_custom or kind.group_resource in _FIELDS_BY_RESOURCE:
        raise bad_request(f"field label not supported: {field}")
    known = '"metadata.name", "metadata.namespace"'
    raise bad_request(f'"{field}" is not a known field selector: only {known}')


def field_value(field: str, value: Json) -> str:
    if field == "source":
        component: str = value.get("source", {}).get("component", "")
        return component or value.get("reportingComponent", "")
    found: object = value
    for part in field.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return "" if found is None else str(found)
