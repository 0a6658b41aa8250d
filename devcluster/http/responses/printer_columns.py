"""The columns that kubectl prints, and their cells for one object."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from devcluster.schema import times
from devcluster.schema.api_errors import Json
from devcluster.schema.kinds import PrinterColumn, ServedKind


RowCells = Callable[[Json, datetime], list[Any]]

_NAME = PrinterColumn("Name", format="name")
_AGE = PrinterColumn("Age")
_FILTER_EXPRESSION = re.compile(r"(\w+)\[\?\(@\.(\w+)==[\"']([^\"']*)[\"']\)\]")


def _age(value: Json, now: datetime) -> str:
    return times.human_duration_since(value["metadata"].get("creationTimestamp"), now)


def _event_cells(value: Json, now: datetime) -> list[Any]:
    first = value.get("firstTimestamp") or value.get("eventTime")
    last, count = _last_seen(value, first)
    involved = value["involvedObject"]
    source = value.get("source", {})
    component = source.get("component") or value.get("reportingComponent", "")
    host = source.get("host") or value.get("reportingInstance", "")
    return [
        times.human_duration_since(last, now),
        value.get("type", ""),
        value.get("reason", ""),
        f"{involved.get('kind', '').lower()}/{involved.get('name', '')}",
        involved.get("fieldPath", ""),
        f"{component}, {host}" if host else component,
        value.get("message", "").strip(),
        times.human_duration_since(first, now),
        count,
        value["metadata"]["name"],
    ]


def _last_seen(event: Json, first: str | None) -> tuple[str | None, int]:
    """
    Return the last time of an Event and its count.

    A series wins over lastTimestamp and count, as in kubectl's printer.
    """
    series = event.get("series")
    if series:
        return series.get("lastObservedTime"), series.get("count", 0)
    return event.get("lastTimestamp") or first, event.get("count", 0) or 1


def _deployment_cells(value: Json, now: datetime) -> list[Any]:
    spec, status = value["spec"], value.get("status", {})
    containers = spec["template"]["spec"].get("containers", [])
    labels = spec.get("selector", {}).get("matchLabels", {})
    return [
        value["metadata"]["name"],
        f"{status.get('readyReplicas', 0)}/{spec['replicas']}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        _age(value, now),
        ",".join(container.get("name", "") for container in containers),
        ",".join(container.get("image", "") for container in containers),
        ",".join(f"{key}={labels[key]}" for key in sorted(labels)),
    ]


def _pod_cells(value: Json, now: datetime) -> list[Any]:
    spec, status = value["spec"], value.get("status", {})
    states = status.get("containerStatuses", [])
    ready = sum(bool(state.get("ready")) for state in states)
    restarts = sum(state.get("restartCount", 0) for state in states)
    shown = status.get("reason") or status.get("phase", "")
    for state in states:
        shown = state.get("state", {}).get("waiting", {}).get("reason") or shown
    if "deletionTimestamp" in value["metadata"]:
        shown = "Terminating"
    name = value["metadata"]["name"]
    total = len(spec.get("containers", []))
    location = [status.get("podIP") or "<none>", spec.get("nodeName") or "<none>"]
    return [name, f"{ready}/{total}", shown, str(restarts), _age(value, now), *location]


def _namespace_cells(value: Json, now: datetime) -> list[Any]:
    return [value["metadata"]["name"], value.get("status", {}).get("phase", ""), _age(value, now)]


def _lease_cells(value: Json, now: datetime) -> list[Any]:
    holder = value.get("spec", {}).get("holderIdentity", "")
    return [value["metadata"]["name"], holder, _age(value, now)]


def _crd_cells(value: Json, now: datetime) -> list[Any]:
    return [value["metadata"]["name"], value["metadata"]["creationTimestamp"]]


def _default_cells(value: Json, now: datetime) -> list[Any]:
    return [value["metadata"]["name"], _age(value, now)]


_EVENT_COLUMNS = (
    PrinterColumn("Last Seen"), PrinterColumn("Type"), PrinterColumn("Reason"), PrinterColumn("Object"),
    PrinterColumn("Subobject", priority=1), PrinterColumn("Source", priority=1), PrinterColumn("Message"),
    PrinterColumn("First Seen", priority=1), PrinterColumn("Count", priority=1),
    PrinterColumn("Name", priority=1, format="name"),
)  # fmt: skip
_DEPLOYMENT_COLUMNS = (
    _NAME, PrinterColumn("Ready"), PrinterColumn("Up-to-date"), PrinterColumn("Available"), _AGE,
    PrinterColumn("Containers", priority=1), PrinterColumn("Images", priority=1), PrinterColumn("Selector", priority=1),
)  # fmt: skip
_POD_COLUMNS = (
    _NAME, PrinterColumn("Ready"), PrinterColumn("Status"), PrinterColumn("Restarts"), _AGE,
    PrinterColumn("IP", priority=1), PrinterColumn("Node", priority=1),
)  # fmt: skip

_TABLES: dict[str, tuple[tuple[PrinterColumn, ...], RowCells]] = {
    "events": (_EVENT_COLUMNS, _event_cells),
    "deployments.apps": (_DEPLOYMENT_COLUMNS, _deployment_cells),
    "pods": (_POD_COLUMNS, _pod_cells),
    "namespaces": ((_NAME, PrinterColumn("Status"), _AGE), _namespace_cells),
    "leases.coordination.k8s.io": ((_NAME, PrinterColumn("Holder"), _AGE), _lease_cells),
    "customresourcedefinitions.apiextensions.k8s.io": (
        (_NAME, PrinterColumn("Created At")),
        _crd_cells,
    ),
}


def columns_for(kind: ServedKind) -> tuple[tuple[PrinterColumn, ...], RowCells]:
    if not kind.is_custom:
        return _TABLES.get(kind.group_resource, ((_NAME, _AGE), _default_cells))

    def cells(value: Json, now: datetime) -> list[Any]:
        printed = (_column_cell(value, column, now) for column in kind.columns)
        return [value["metadata"]["name"], *printed]

    return (_NAME, *kind.columns), cells


def _column_cell(value: Json, column: PrinterColumn, now: datetime) -> Any:
    found = _evaluate_json_path(value, column.json_path)
    if column.type == "date":
        return times.human_duration_since(found, now)
    return found


def _evaluate_json_path(value: Any, path: str) -> Any:
    """Evaluate a JSON path of a CRD's column: field names, and filters by equality."""
    for part in re.findall(r"\.((?:\w+\[[^]]*\])|[\w-]+)", path):
        filtered = _FILTER_EXPRESSION.fullmatch(part)
        field = filtered[1] if filtered else part
        value = value.get(field) if isinstance(value, dict) else None
        if filtered:
            items = [item for item in value or () if item.get(filtered[2]) == filtered[3]]
            value = items[0] if items else None
    return value
