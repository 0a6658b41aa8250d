"""
The columns kubectl shows, and the cells of one object.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from reporter.embedded import times
from reporter.embedded.kinds import Column, Kind
from reporter.embedded.statuses import Json


Cells = Callable[[Json, datetime], list[Any]]

_NAME = Column("Name", format="name")
_AGE = Column("Age")
_FILTER = re.compile(r"(\w+)\[\?\(@\.(\w+)==[\"']([^\"']*)[\"']\)\]")


def _age(value: Json, now: datetime) -> str:
    return times.since(value["metadata"].get("creationTimestamp"), now)


def _event(value: Json, now: datetime) -> list[Any]:
    """
    Last Seen prefers the series, then lastTimestamp, then what First Seen says.
    """
    first = times.since(value.get("firstTimestamp") or value.get("eventTime"), now)
    last = times.since(value["lastTimestamp"], now) if value.get("lastTimestamp") else first
    count = value.get("count", 0) or 1
    series = value.get("series")
    if series:
        last, count = times.since(series.get("lastObservedTime"), now), series.get("count", 0)
    about = value["involvedObject"]
    source = value.get("source", {})
    component = source.get("component") or value.get("reportingComponent", "")
    host = source.get("host") or value.get("reportingInstance", "")
    return [
        last,
        value.get("type", ""),
        value.get("reason", ""),
        f"{about.get('kind', '').lower()}/{about.get('name', '')}",
        about.get("fieldPath", ""),
        f"{component}, {host}" if host else component,
        value.get("message", "").strip(),
        first,
        count,
        value["metadata"]["name"],
    ]


def _deployment(value: Json, now: datetime) -> list[Any]:
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


def _pod(value: Json, now: datetime) -> list[Any]:
    spec, status = value["spec"], value.get("status", {})
    states = status.get("containerStatuses", [])
    ready = sum(bool(state.get("ready")) for state in states)
    restarts = sum(state.get("restartCount", 0) for state in states)
    said = status.get("reason") or status.get("phase", "")
    for state in states:
        said = state.get("state", {}).get("waiting", {}).get("reason") or said
    if "deletionTimestamp" in value["metadata"]:
        said = "Terminating"
    name = value["metadata"]["name"]
    total = len(spec.get("containers", []))
    place = [status.get("podIP") or "<none>", spec.get("nodeName") or "<none>"]
    return [name, f"{ready}/{total}", said, str(restarts), _age(value, now), *place]


def _namespace(value: Json, now: datetime) -> list[Any]:
    return [value["metadata"]["name"], value.get("status", {}).get("phase", ""), _age(value, now)]


def _lease(value: Json, now: datetime) -> list[Any]:
    holder = value.get("spec", {}).get("holderIdentity", "")
    return [value["metadata"]["name"], holder, _age(value, now)]


def _crd(value: Json, now: datetime) -> list[Any]:
    return [value["metadata"]["name"], value["metadata"]["creationTimestamp"]]


def _plain(value: Json, now: datetime) -> list[Any]:
    return [value["metadata"]["name"], _age(value, now)]


_EVENT_COLUMNS = (
    Column("Last Seen"), Column("Type"), Column("Reason"), Column("Object"),
    Column("Subobject", priority=1), Column("Source", priority=1), Column("Message"),
    Column("First Seen", priority=1), Column("Count", priority=1),
    Column("Name", priority=1, format="name"),
)  # fmt: skip
_DEPLOYMENT_COLUMNS = (
    _NAME, Column("Ready"), Column("Up-to-date"), Column("Available"), _AGE,
    Column("Containers", priority=1), Column("Images", priority=1), Column("Selector", priority=1),
)  # fmt: skip
_POD_COLUMNS = (
    _NAME, Column("Ready"), Column("Status"), Column("Restarts"), _AGE,
    Column("IP", priority=1), Column("Node", priority=1),
)  # fmt: skip

_TABLES: dict[str, tuple[tuple[Column, ...], Cells]] = {
    "events": (_EVENT_COLUMNS, _event),
    "deployments.apps": (_DEPLOYMENT_COLUMNS, _deployment),
    "pods": (_POD_COLUMNS, _pod),
    "namespaces": ((_NAME, Column("Status"), _AGE), _namespace),
    "leases.coordination.k8s.io": ((_NAME, Column("Holder"), _AGE), _lease),
    "customresourcedefinitions.apiextensions.k8s.io": ((_NAME, Column("Created At")), _crd),
}


def table_of(kind: Kind) -> tuple[tuple[Column, ...], Cells]:
    if not kind.custom:
        return _TABLES.get(kind.qualified, ((_NAME, _AGE), _plain))

    def cells(value: Json, now: datetime) -> list[Any]:
        found = (_cell(value, column, now) for column in kind.columns)
        return [value["metadata"]["name"], *found]

    return (_NAME, *kind.columns), cells


def _cell(value: Json, column: Column, now: datetime) -> Any:
    found = _at(value, column.path)
    if column.type == "date":
        return times.since(found, now)
    return found


def _at(value: Any, path: str) -> Any:
    """
    What a JSON path of the kind that CRDs use for columns leads to: fields, and filters by equality.
    """
    for part in re.findall(r"\.((?:\w+\[[^]]*\])|[\w-]+)", path):
        chosen = _FILTER.fullmatch(part)
        field = chosen[1] if chosen else part
        value = value.get(field) if isinstance(value, dict) else None
        if chosen:
            items = [item for item in value or () if item.get(chosen[2]) == chosen[3]]
            value = items[0] if items else None
    return value
