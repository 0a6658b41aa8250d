"""
Which fields of which kind can be selected by, and where they are read.
"""

from reporter.embedded.kinds import Kind
from reporter.embedded.statuses import Json, bad_request


_EVENT = (
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
_BY_RESOURCE = {
    "events": _EVENT,
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
    "secrets": ("type",),
    "nodes": ("spec.unschedulable",),
    "replicasets.apps": ("status.replicas",),
}


def check_field(kind: Kind, field: str) -> None:
    """
    Refuse with a 400 what the real server does not index.
    """
    if field == "metadata.name" or (field == "metadata.namespace" and kind.namespaced):
        return
    if field in _BY_RESOURCE.get(kind.qualified, ()):
        return
    if kind.custom or kind.qualified in _BY_RESOURCE:
        raise bad_request(f"field label not supported: {field}")
    known = '"metadata.name", "metadata.namespace"'
    raise bad_request(f'"{field}" is not a known field selector: only {known}')


def field_of(field: str, value: Json) -> str:
    if field == "source":
        component: str = value.get("source", {}).get("component", "")
        return component or value.get("reportingComponent", "")
    found: object = value
    for part in field.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return "" if found is None else str(found)
