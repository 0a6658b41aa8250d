"""The format that every Event must have."""

import re
from collections.abc import Iterator

from e2e.controlplane import Json
from e2e.support.events import SOURCE
from reporter.model.enums import EventType, Layer
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


LIMIT = 1024
"""Maximum UTF-8 bytes of a message; the API server refuses longer ones."""

FORBIDDEN_PATTERNS = {
    "URL": r"[a-z][a-z0-9+.-]*://",
    "token": r"\beyJ[\w-]{8,}|[Bb]earer\s+[\w.-]{8,}",
    "password": r"(?i)\b(?:password|secret|token|sig|api[-_]?key)\s*=\s*\S",
    "control character": r"[\x00-\x1f\x7f-\x9f]",
    "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d",
}
LABELS = "reporter.productionstack.kaito.sh/"


def format_violations(event: Json) -> list[str]:
    """Return the violations of one Event as it was written."""
    return [*_field_violations(event), *_text_violations(event), *_name_violations(event)]


def _field_violations(event: Json) -> Iterator[str]:
    count, meta = event.get("count", 0), event["metadata"]
    expected = {
        "source.component": (event.get("source", {}).get("component"), SOURCE),
        "reportingComponent": (event.get("reportingComponent"), SOURCE),
        "action": (event.get("action"), "Evaluate"),
        "namespace": (meta["namespace"], "kube-system"),
        "involvedObject.namespace": (event["involvedObject"].get("namespace", ""), ""),
        "type": (event["type"], str(DEFAULT_CATALOGUE.entries[event["reason"]].type)),
    }
    yield from (
        f"{key} is {found!r}" for key, (found, value) in expected.items() if found != value
    )
    required = ("firstTimestamp", "lastTimestamp", "eventTime", "reportingInstance")
    yield from (f"no {key}" for key in required if not event.get(key))
    if not re.search(r"\.\d{6}Z$", event.get("eventTime") or ""):
        yield f"eventTime is {event.get('eventTime')}"
    series = event.get("series") or {"count": 1, "lastObservedTime": event["lastTimestamp"]}
    if count < 1 or series["count"] != count:
        yield f"count {count}, of the series {series['count']}"
    if series["lastObservedTime"][:19] != event["lastTimestamp"][:19]:
        yield f"last {event['lastTimestamp']}, of the series {series['lastObservedTime']}"
    if event["lastTimestamp"] < event["firstTimestamp"]:
        yield "lastTimestamp is before firstTimestamp"


def _text_violations(event: Json) -> Iterator[str]:
    message = event.get("message", "")
    if not message.strip():
        yield "the message is empty"
    if len(message.encode()) > LIMIT:
        yield f"{len(message.encode())} bytes"
    yield from (
        f"a {name}: {message}"
        for name, pattern in FORBIDDEN_PATTERNS.items()
        if re.search(pattern, message)
    )


def _name_violations(event: Json) -> Iterator[str]:
    """Yield a violation if the message or the labels do not name the subject."""
    labels, message = event["metadata"].get("labels", {}), event.get("message", "")
    involved = event["involvedObject"]
    layer = DEFAULT_CATALOGUE.entries[event["reason"]].layer
    names = [labels.get(f"{LABELS}{key}", "") for key in _SUBJECT_LABELS[layer]]
    if event["type"] == EventType.NORMAL and layer == Layer.CLUSTER:
        names = []
    elif layer == Layer.CLUSTER:
        is_namespace = involved["kind"] == "Namespace"
        names = [f"Deployment {involved['name']}/" if is_namespace else involved["name"]]
    yield from (f"{name!r} is not named: {message}" for name in names if name not in message)
    if layer != Layer.CLUSTER and not all(names):
        yield f"labels do not name the subject: {labels}"
    # A CRD is known by discovery, which has no uid.
    if involved["kind"] == "Namespace" and not involved.get("uid"):
        yield "involvedObject has no uid"


_SUBJECT_LABELS = {
    Layer.CLUSTER: (),
    Layer.MODELHARNESS: ("namespace",),
    Layer.MODELDEPLOYMENT: ("namespace", "inferenceset"),
}
