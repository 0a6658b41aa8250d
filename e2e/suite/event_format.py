"""
What an Event must be, whatever it tells.
"""

import re
from collections.abc import Iterator

from e2e.controlplane import Json
from e2e.support.events import SOURCE
from reporter.model.enums import EventType, Layer
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


LIMIT = 1024
"""
UTF-8 bytes that an API server takes.
"""

FORBIDDEN_PATTERNS = {
    "URL": r"[a-z][a-z0-9+.-]*://",
    "token": r"\beyJ[\w-]{8,}|[Bb]earer\s+[\w.-]{8,}",
    "password": r"(?i)\b(?:password|secret|token|sig|api[-_]?key)\s*=\s*\S",
    "control character": r"[\x00-\x1f\x7f-\x9f]",
    "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d",
}
LABELS = "reporter.productionstack.kaito.sh/"


def format_violations(event: Json) -> list[str]:
    """
    To one Event as it was written at some time.
    """
    return [*_field_violations(event), *_text_violations(event), *_name_violations(event)]


def _field_violations(event: Json) -> Iterator[str]:
    count, meta = event.get("count", 0), event["metadata"]
    fixed = {
        "source.component": (event.get("source", {}).get("component"), SOURCE),
        "reportingComponent": (event.get("reportingComponent"), SOURCE),
        "action": (event.get("action"), "Evaluate"),
        "namespace": (meta["namespace"], "kube-system"),
        "involvedObject.namespace": (event["involvedObject"].get("namespace", ""), ""),
        "type": (event["type"], str(DEFAULT_CATALOGUE.entries[event["reason"]].type)),
    }
    yield from (f"{key} is {found!r}" for key, (found, right) in fixed.items() if found != right)
    needed = ("firstTimestamp", "lastTimestamp", "eventTime", "reportingInstance")
    yield from (f"no {key}" for key in needed if not event.get(key))
    if not re.search(r"\.\d{6}Z$", event.get("eventTime") or ""):
        yield f"eventTime is {event.get('eventTime')}"
    series = event.get("series") or {"count": 1, "lastObservedTime": event["lastTimestamp"]}
    if count < 1 or series["count"] != count:
        yield f"count {count}, of the series {series['count']}"
    if series["lastObservedTime"][:19] != event["lastTimestamp"][:19]:
        yield f"last {event['lastTimestamp']}, of the series {series['lastObservedTime']}"
    if event["lastTimestamp"] < event["firstTimestamp"]:
        yield "it ended before it began"


def _text_violations(event: Json) -> Iterator[str]:
    message = event.get("message", "")
    if not message.strip():
        yield "it says nothing"
    if len(message.encode()) > LIMIT:
        yield f"{len(message.encode())} bytes"
    yield from (
        f"a {what}: {message}"
        for what, each in FORBIDDEN_PATTERNS.items()
        if re.search(each, message)
    )


def _name_violations(event: Json) -> Iterator[str]:
    """
    Who it is about can be told from the message alone, and be selected by labels.
    """
    labels, message = event["metadata"].get("labels", {}), event.get("message", "")
    layer = DEFAULT_CATALOGUE.entries[event["reason"]].layer
    wanted = [labels.get(f"{LABELS}{each}", "") for each in _NAMED[layer]]
    if event["type"] == EventType.NORMAL and layer == Layer.CLUSTER:
        wanted = []
    elif layer == Layer.CLUSTER:
        of = event["involvedObject"]
        wanted = [f"Deployment {of['name']}/" if of["kind"] == "Namespace" else of["name"]]
    yield from (f"{each!r} is not named: {message}" for each in wanted if each not in message)
    if layer != Layer.CLUSTER and not all(wanted):
        yield f"no label says whose it is: {labels}"
    of = event["involvedObject"]
    if of["kind"] == "Namespace" and not of.get(
        "uid"
    ):  # discovery, by which a CRD is known, has none
        yield "its object has no uid"


_NAMED = {
    Layer.CLUSTER: (),
    Layer.MODELHARNESS: ("namespace",),
    Layer.MODELDEPLOYMENT: ("namespace", "inferenceset"),
}
